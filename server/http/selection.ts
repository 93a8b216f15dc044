// Which objects of a collection a request means: `labelSelector` and `fieldSelector` of its query.

import {parseFieldSelector} from '../../api/field-selector.js';
import type {KindDefinition} from '../../api/kind.js';
import {clusterScope, objectKey} from '../../api/keys.js';
import type {ApiObject} from '../../api/object.js';
import {parseSelector} from '../../api/selector-text.js';
import {matches, type LabelSelector} from '../../api/selector.js';
import type {Entry, ObjectIndex} from '../../system/index/object-index.js';
import {valueOf} from './outcome.js';

export type Selection = {
	readonly test: (object: ApiObject) => boolean;
	/** The one name that can pass, where the selector says it. */
	readonly name: string | undefined;
	readonly labels: LabelSelector | undefined;
};

/** The selection of a query; `ERR_BAD_REQUEST` for a selector that is none, or of a field the kind does not offer. */
export function selectionOf(query: URLSearchParams, kind: KindDefinition): Selection {
	const labelText = query.get('labelSelector') ?? '';
	const fieldText = query.get('fieldSelector') ?? '';
	const labels = labelText === '' ? undefined : valueOf(parseSelector(labelText));
	const fields = fieldText === '' ? undefined : valueOf(parseFieldSelector(fieldText, kind));
	return {
		test: object => (labels === undefined || matches(labels, object.metadata.labels)) && (fields === undefined || fields(object)),
		name: /(?:^|,)metadata\.name==?([^,=!]+)/.exec(fieldText)?.[1],
		labels,
	};
}

/** The entries that match, in key order. What the index finds directly is not searched for. */
export function selected(index: ObjectIndex, kind: KindDefinition, namespace: string | undefined, selection: Selection): Entry[] {
	return candidates(index, kind, namespace, selection).filter(({object}) => selection.test(object));
}

function candidates(index: ObjectIndex, kind: KindDefinition, namespace: string | undefined, {name, labels}: Selection): Entry[] {
	const isOneScope = namespace !== undefined || !kind.namespaced;
	if (name !== undefined && isOneScope) return present([index.entry(objectKey(kind.plural, namespace, name))]);
	if (labels?.matchLabels === undefined || !isOneScope) return index.entries(kind.plural, namespace);
	const found = Array.from(index.select(kind.plural, namespace ?? clusterScope, labels), ({metadata}) =>
		index.entry(objectKey(kind.plural, namespace, metadata.name)),
	);
	return present(found).sort((a, b) => (a.key < b.key ? -1 : 1));
}

const present = (entries: readonly (Entry | undefined)[]): Entry[] => entries.filter(entry => entry !== undefined);
