// What `explain` tells: every field that people write has a line.

import test from 'ava';
import descriptions, {type Schema} from '../../api/descriptions.cjs';

/** Paths of fields without words. Parts that are said elsewhere (`$ref`) are looked at there. */
function silent(schema: Schema, path: string): readonly string[] {
	const members = Object.entries(schema.properties ?? {}).flatMap(([field, member]) => {
		const at = `${path}.${field}`;
		return [...(member.description === undefined ? [at] : []), ...silent(member, at)];
	});
	const values = typeof schema.additionalProperties === 'object' ? silent(schema.additionalProperties, `${path}{}`) : [];
	return [...members, ...values, ...(schema.items === undefined ? [] : silent(schema.items, `${path}[]`))];
}

/** What the cluster sets, and references to objects, whose members say it all. */
const plain = /^(?!Condition)\w+\.status\b|^ContainerStatus\.|\.targetRef\.|\.conditions\.(ready|serving|terminating)$|\.capabilities\./;

for (const [name, schema] of Object.entries({...descriptions.kinds, ...descriptions.definitions})) {
	test(`every field of ${name} has a description`, t => {
		t.deepEqual(
			silent(schema, name).filter(path => !plain.test(path)),
			[],
		);
	});
}

test('descriptions are single sentences of a line', t => {
	const words = (schema: Schema): readonly string[] => [
		...(schema.description === undefined ? [] : [schema.description]),
		...Object.values(schema.properties ?? {}).flatMap(words),
		...(schema.items === undefined ? [] : words(schema.items)),
	];
	for (const each of Object.values({...descriptions.kinds, ...descriptions.definitions}).flatMap(words))
		t.true(each.length <= 120 && each.endsWith('.') && !each.includes('\n'), each);
});
