// How many bytes data of a run is as JSON, counted without making the text.

import test from 'ava';
import fc from 'fast-check';
import {limits} from '../../../api/limits.js';
import type {Json} from '../../../api/object.js';
import {dataProblem, jsonBytes} from '../../../api/states-language/data-bounds.js';

const nested = (levels: number): Json => (levels === 0 ? 1 : [nested(levels - 1)]);

test('bytes of data are those of its JSON, whatever its texts and names are', t => {
	const text = fc.string({
		unit: fc.oneof(fc.constantFrom('"', '\\', '\n', '\u007f', '\ud800', 'é', '😀', 'a', ' '), fc.string({maxLength: 3})),
	});
	const {data} = fc.letrec<{data: unknown}>(tie => ({
		data: fc.oneof(
			{maxDepth: 4},
			fc.constantFrom(null, true, false, 0, -0, 1e21, -1.5),
			text,
			fc.array(tie('data'), {maxLength: 4}),
			fc.dictionary(text, tie('data'), {maxKeys: 4}),
		),
	}));
	fc.assert(fc.property(data, value => jsonBytes(value as Json) === Buffer.byteLength(JSON.stringify(value))));
	t.is(jsonBytes({a: undefined, b: [1, {}], c: 'x'}), Buffer.byteLength('{"b":[1,{}],"c":"x"}'));
});

test('data that is just as large or as deep as may be is no problem', t => {
	t.is(dataProblem('x'.repeat(limits.statesDataBytes - 2)), undefined);
	t.regex(dataProblem('x'.repeat(limits.statesDataBytes - 1)) ?? '', /more than 262144 bytes/);
	t.is(dataProblem(nested(limits.statesDataDepth)), undefined);
	t.regex(dataProblem(nested(limits.statesDataDepth + 1)) ?? '', /deeper than 60 levels/);
});

test('a number that is no number of JSON and a member "__proto__" are a problem wherever they are', t => {
	for (const text of ['1e999', '[-1e999]', '{"a": {"b": [1, 1e400]}}'])
		t.regex(dataProblem(JSON.parse(text) as Json) ?? '', /^has a number that is none, or is too large: -?Infinity$/, text);
	for (const text of ['{"__proto__": 1}', '[{"a": {"__proto__": null}}]'])
		t.is(dataProblem(JSON.parse(text) as Json), 'has a member "__proto__", which cannot be the name of a field', text);
	t.is(dataProblem(JSON.parse('{"a": [1e308, "__proto__", {"proto": null}]}') as Json), undefined);
});
