// Label selectors: the structured form of manifests and the text form of query strings.

import type {Labels} from './object.js';
import type {labelSelector, ShapeOf} from './schemas/parts.js';

export type LabelSelector = ShapeOf<typeof labelSelector>;
export type SelectorRequirement = NonNullable<LabelSelector['matchExpressions']>[number];

/** Whether labels satisfy every requirement. An empty selector matches everything. */
export function matches(selector: LabelSelector, labels: Labels | undefined): boolean {
	const have = labels ?? {};
	for (const [key, value] of Object.entries(selector.matchLabels ?? {})) if (have[key] !== value) return false;
	return (selector.matchExpressions ?? []).every(requirement => satisfies(requirement, valueOf(have, requirement.key)));
}

/** The value of a label; undefined where there is none. */
export const valueOf = (labels: Labels, key: string): string | undefined => (Object.hasOwn(labels, key) ? labels[key] : undefined);

/** Whether the value of the requirement's label, undefined where there is none, is as it says. */
export function satisfies({operator, values = []}: SelectorRequirement, value: string | undefined): boolean {
	switch (operator) {
		case 'In':
			return value !== undefined && values.includes(value);
		case 'NotIn':
			return value === undefined || !values.includes(value);
		case 'Exists':
			return value !== undefined;
		case 'DoesNotExist':
			return value === undefined;
	}
}
