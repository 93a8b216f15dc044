// What holds a shape that is written by hand to its schema.

import test from 'ava';
import {about, flag, optional, record, text, type Same, type ShapeOf} from '../../api/schemas/parts.js';

const schema = () => record({name: about('Its name.', text()), isNew: optional(flag())});
type Shape = ShapeOf<typeof schema>;

test('a shape is the same as its schema only with the same fields, each optional in both or in neither', t => {
	const same: Same<Shape, {readonly name: string; readonly isNew?: boolean}> = true;
	// @ts-expect-error A field that is optional in the schema is required.
	const required: Same<Shape, {readonly name: string; readonly isNew: boolean}> = true;
	// @ts-expect-error A field that is required in the schema is optional.
	const loose: Same<Shape, {readonly name?: string; readonly isNew?: boolean}> = true;
	// @ts-expect-error An optional field is missing.
	const missing: Same<Shape, {readonly name: string}> = true;
	// @ts-expect-error An optional field is too many.
	const more: Same<Shape, {readonly name: string; readonly isNew?: boolean; readonly age?: number}> = true;
	// @ts-expect-error A type differs.
	const other: Same<Shape, {readonly name: number; readonly isNew?: boolean}> = true;
	t.deepEqual(schema().required, ['name']);
	t.deepEqual([same, required, loose, missing, more, other], Array(6).fill(true));
});

test('a shape cannot be changed in place', t => {
	const shape: Shape = {name: 'a'};
	// @ts-expect-error Its fields are readonly.
	shape.name = 'b';
	t.deepEqual(shape, {name: 'b'});
});
