// Columns that kinds share.

import {ageSince} from '../duration.js';
import type {Column} from '../kind.js';
import type {ApiObject} from '../object.js';
import {formatSelector} from '../selector-text.js';
import type {LabelSelector} from '../selector.js';
import type {PodSpec} from '../shapes/pod.js';

/** What a cell shows when there is nothing. */
export const none = '<none>';

type Cell = Column['cell'];

const columnOf =
	<Its extends Cell = Cell>(type: Column['type'], priority: Column['priority']) =>
	(name: string, description: string, cell: Its): Column => ({name, type, priority, description, cell});

/** A column of text, always shown. */
export const column = columnOf('string', 0);

/** A column of text, shown with `-o wide`. */
export const wideColumn = columnOf('string', 1);

export const numberColumn = columnOf<(object: ApiObject) => number>('integer', 0);

export const nameColumn = column('Name', 'The name, unique within a namespace and kind.', object => object.metadata.name);

export const ageColumn = column('Age', 'How long ago the object was created.', (object, nowMs) =>
	ageSince(object.metadata.creationTimestamp, nowMs),
);

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
