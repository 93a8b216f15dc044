// Rules of the template of pods, inside whatever makes pods.

import type {JsonObject} from '../object.js';
import {shown} from '../shown.js';
import {checkBackoff} from './backoff.js';
import {checkDependsOn} from './depends-on.js';
import {checkAnnotations, checkLabels} from './metadata.js';
import {checkPodSpec} from './pod.js';
import {membersOf, refuse, type Found} from './report.js';

/** `kind` makes pods with one of these restart policies. */
export function checkTemplate(
	found: Found,
	path: string,
	template: JsonObject,
	{kind, policies}: {readonly kind: string; readonly policies: readonly string[]},
): void {
	const metadata = membersOf(template['metadata']);
	const podSpec = membersOf(template['spec']);
	checkLabels(found, `${path}.metadata.labels`, metadata['labels']);
	checkAnnotations(found, `${path}.metadata.annotations`, metadata['annotations']);
	checkBackoff(found, `${path}.metadata.annotations`, metadata['annotations']);
	checkDependsOn(found, `${path}.metadata.annotations`, metadata['annotations']);
	checkPodSpec(found, `${path}.spec`, podSpec);
	const policy = podSpec['restartPolicy'];
	if (typeof policy === 'string' && ['Always', 'OnFailure', 'Never'].includes(policy) && !policies.includes(policy)) {
		const words = `must be ${policies.join(' or ')} in a ${kind}, got ${shown(policy)}`;
		refuse(found, `${path}.spec.restartPolicy`, words, 'FieldValueNotSupported');
	}
}

/** The labels that the template's pods get. */
export const templateLabels = (template: JsonObject): JsonObject => membersOf(membersOf(template['metadata'])['labels']);
