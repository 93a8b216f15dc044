import test from 'ava';
import {AppError} from '../../api/errors.js';
import {isSealed} from '../../api/sealed.js';
import {openSeals, sealsOf} from '../../server/seal.js';
import {keptInMemory} from './support.js';

const key = new Uint8Array(32).fill(7);
const place = {namespace: 'default', name: 'db', entry: 'password'};
const bytes = (text: string): Buffer => Buffer.from(text);

test('what is sealed opens again, bytes as they were, and shows nothing of itself', t => {
	const {seal, open} = sealsOf(key);
	for (const value of [bytes('s3cr3t'), bytes(''), Buffer.from([0, 255, 128]), Buffer.alloc(100_000, 65)]) {
		const sealed = seal(place, value);
		t.true(isSealed(sealed));
		t.deepEqual(open(place, sealed), value);
	}
	const sealed = seal(place, bytes('MARKER'));
	t.false(Buffer.from(sealed.split('.').at(-1) ?? '', 'base64url').includes('MARKER'));
});

test('the same value at the same place has one sealed form; any other value, place or key has another', t => {
	const {seal} = sealsOf(key);
	const forms = [
		seal(place, bytes('a')),
		seal(place, bytes('b')),
		seal({...place, entry: 'pin'}, bytes('a')),
		seal({...place, name: 'other'}, bytes('a')),
		seal({...place, namespace: 'other'}, bytes('a')),
		sealsOf(new Uint8Array(32)).seal(place, bytes('a')),
	];
	t.deepEqual(seal(place, bytes('a')), forms[0]);
	const bodies = forms.map(form => Buffer.from(form.split('.').at(-1) ?? '', 'base64url'));
	// Neither the nonce nor the one byte behind it tells that values are equal.
	t.is(new Set(bodies.map(body => body.subarray(0, 12).toString('hex'))).size, forms.length);
});

test('a sealed value opens at its own place alone, and only unchanged', t => {
	const {seal, open} = sealsOf(key);
	const sealed: string = seal(place, bytes('MARKER'));
	const changed = sealed.replace(/.$/, last => (last === 'A' ? 'E' : 'A'));
	const wrong = [
		() => open({...place, entry: 'pin'}, sealed),
		() => open({...place, namespace: 'other'}, sealed),
		() => open(place, changed),
		() => open(place, sealed.slice(0, 30)),
		() => open(place, 'TUFSS0VS'),
		() => sealsOf(new Uint8Array(32)).open(place, sealed),
	];
	for (const attempt of wrong) {
		const error = t.throws(attempt, {instanceOf: AppError});
		t.is(error.code, 'ERR_INTERNAL');
		t.notRegex(error.message, /MARKER|TUFSS0VS/);
	}
});

test('the key is made once, and kept in the vault', async t => {
	const kept = keptInMemory();
	const first = await openSeals(kept);
	const again = await openSeals(kept);
	t.deepEqual([...kept.values.keys()], ['secret-key']);
	t.is(again.open(place, first.seal(place, bytes('a'))).toString(), 'a');
	t.is(again.seal(place, bytes('a')), first.seal(place, bytes('a')));
});
