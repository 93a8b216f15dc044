// The definition that a run goes by: that of the revision of its workflow with which it began.

import type {ControllerRevision} from '../../../api/kinds/controllerrevision.js';
import type {Run} from '../../../api/kinds/run.js';
import {objectKey} from '../../../api/keys.js';
import type {ApiObject} from '../../../api/object.js';
import {membersOf} from '../../../api/rules/report.js';
import type {Definition} from '../../../api/states-language/definition.js';
import {readDefinition} from '../../../api/states-language/validation/definition.js';
import type {Known} from '../../../system/index/object-index.js';

/** Read once for each revision: they do not change. */
const read = new WeakMap<ApiObject, Definition | string>();

/** A text says why there is none. */
export function definitionOfRevision(known: Pick<Known, 'get'>, namespace: string | undefined, name: string): Definition | string {
	const revision = known.get(objectKey('controllerrevisions', namespace, name));
	if (revision === undefined) return `the revision "${name}" of its workflow is gone`;
	const before = read.get(revision);
	if (before !== undefined) return before;
	const outcome = readDefinition(membersOf((revision as ControllerRevision).data)['definition']);
	const definition = outcome.ok
		? outcome.definition
		: `the revision "${name}" has no definition that can be run: ${outcome.problems[0]?.message ?? ''}`;
	read.set(revision, definition);
	return definition;
}

/** Of a run that has begun. */
export function definitionOf(known: Pick<Known, 'get'>, {metadata, spec, status}: Run): Definition | string {
	const definition = definitionOfRevision(known, metadata.namespace, status?.revisionName ?? '');
	return typeof definition === 'string' || spec?.startAt === undefined ? definition : {...definition, StartAt: spec.startAt};
}
