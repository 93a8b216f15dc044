// Columns that kinds share.

import {ageSince} from '../duration.js';
import type {Column} from '../kind.js';
import type {ApiObject} from '../object.js';
import {formatSelector} from '../selector-text.js';
import type {LabelSelector} from '../selector.js';
import type {PodSpec} from '../shapes/pod.js';

/** What a cell shows when there is nothing. */
export const none = '<none>';

export const nameColumn: Column = {
	name: 'Name',
	type: 'string',
	priority: 0,
	description: 'The name, unique within a namespace and kind.',
	cell: object => object.metadata.name,
};

export const ageColumn: Column = {
	name: 'Age',
	type: 'string',
	priority: 0,
	description: 'How long ago the object was created.',
	cell: (object, nowMs) => ageSince(object.metadata.creationTimestamp, nowMs),
};

/** A column of text, always shown. */
export const column = (name: string, description: string, cell: Column['cell']): Column => ({
	name,
	type: 'string',
	priority: 0,
	description,
	cell,
});

/** A column of text, shown with `-o wide`. */
export const wideColumn = (name: string, description: string, cell: Column['cell']): Column => ({
	name,
	type: 'string',
	priority: 1,
	description,
	cell,
});

export const numberColumn = (name: string, description: string, cell: (object: ApiObject) => number): Column => ({
	name,
	type: 'integer',
	priority: 0,
	description,
	cell,
});

/** Containers, images and selector of what makes pods from a template. */
export const templateColumns = (
	templateOf: (object: ApiObject) => {spec: PodSpec; selector: LabelSelector} | undefined,
): readonly Column[] => [
	wideColumn('Containers', 'The names of the containers.', object => listed(templateOf(object)?.spec.containers.map(({name}) => name))),
	wideColumn('Images', 'The images of the containers.', object => listed(templateOf(object)?.spec.containers.map(({image}) => image))),
	wideColumn('Selector', 'Which pods belong to it.', object => {
		const template = templateOf(object);
		return template === undefined ? none : formatSelector(template.selector) || none;
	}),
];

const listed = (words: readonly string[] | undefined): string => (words === undefined || words.length === 0 ? none : words.join(','));
