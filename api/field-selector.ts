// Field selectors: `metadata.name=web,status.phase!=Running`. Each kind says which of its fields can be selected.

import {failed, succeeded, type Outcome} from './errors.js';
import type {KindDefinition} from './kind.js';
import type {ApiObject} from './object.js';
import {shown} from './shown.js';

export type FieldMatcher = (object: ApiObject) => boolean;

type Fields = NonNullable<KindDefinition['selectableFields']>;

const common: Fields = {
	'metadata.name': object => object.metadata.name,
	'metadata.namespace': object => object.metadata.namespace ?? '',
};

/** Whether an object satisfies every term; a field that cannot be selected is refused by name. */
export function parseFieldSelector(text: string, kind: KindDefinition): Outcome<FieldMatcher> {
	const terms: FieldMatcher[] = [];
	for (const term of text.split(',')) {
		if (term.trim() === '') continue;
		const parsed = parseTerm(term.trim(), kind);
		if (typeof parsed === 'string') return failed('ERR_BAD_REQUEST', {message: parsed});
		terms.push(parsed);
	}
	return succeeded(object => terms.every(matches => matches(object)));
}

/** A term's matcher, or what is wrong with it. */
function parseTerm(term: string, {selectableFields = {}}: KindDefinition): FieldMatcher | string {
	const match = /^([^=!]+)(==|!=|=)(.*)$/.exec(term);
	if (match === null) return `invalid field selector ${shown(term)}: a term is field=value or field!=value`;
	const [, field = '', operator, value] = match;
	const read = fieldOf(common, field) ?? fieldOf(selectableFields, field);
	if (read === undefined) return `field label not supported: ${field}`;
	return operator === '!=' ? object => read(object) !== value : object => read(object) === value;
}

const fieldOf = (fields: Fields, field: string): ((object: ApiObject) => string) | undefined =>
	Object.hasOwn(fields, field) ? fields[field] : undefined;
