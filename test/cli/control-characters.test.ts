import test from 'ava';
import {bytesWithControlsShown, withControlsShown, withForeignControlsShown} from '../../cli/screen/control-characters.js';

test('what commands a terminal or turns letters round is shown; lines, tabs and letters stay', t => {
	t.is(withControlsShown('a\tb\r\nc\n'), 'a\tb\r\nc\n');
	t.is(withControlsShown('\0\u0007\u001b\u007f\r!'), '^@^G^[^?^M!');
	t.is(withControlsShown('\u0080\u009b'), '<80><9b>');
	for (const turning of ['202a', '202b', '202c', '202d', '202e', '2066', '2067', '2068', '2069'])
		t.is(withControlsShown(`a${String.fromCharCode(Number.parseInt(turning, 16))}b`), `a<${turning}>b`);
	t.is(withControlsShown('é€שלום'), 'é€שלום');
});

test('colours of our own stay, others do not', t => {
	t.is(withForeignControlsShown('\u001b[31mred\u001b[39m \u001b[2Jgone'), '\u001b[31mred\u001b[39m ^[[2Jgone');
});

test('bytes are looked at wherever they are cut', t => {
	const bytes = Buffer.from('a\u202eb\r\nc\r');
	for (let at = 0; at <= bytes.length; at++) {
		const {next, end} = bytesWithControlsShown();
		t.is(Buffer.concat([next(bytes.subarray(0, at)), next(bytes.subarray(at)), end()]).toString(), 'a<202e>b\r\nc^M');
	}
});
