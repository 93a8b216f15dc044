// A failure as the Status document that kubectl and every other client of Kubernetes reads.

import {problemsOf, rowOf, type Failure} from '../../api/errors.js';
import type {JsonObject} from '../../api/object.js';
import {formatProblem, type Problem} from '../../api/problem.js';
import {shownName} from '../../api/shown.js';

export type StatusDocument = {
	readonly kind: 'Status';
	readonly apiVersion: 'v1';
	readonly metadata: JsonObject;
	readonly status: 'Success' | 'Failure';
	readonly message?: string;
	readonly reason?: string;
	readonly details?: JsonObject;
	readonly code: number;
};

export const statusHead = {kind: 'Status', apiVersion: 'v1', metadata: {}} as const;

/** What the request was about: fills in what the failure itself does not name. */
export type About = {readonly group?: string; readonly plural?: string; readonly kind?: string; readonly name?: string};

/** The Status of a failure; its `code` is the HTTP status. */
export function statusOf(failure: Failure, about: About = {}): StatusDocument {
	const row = rowOf(failure.code);
	const named = {...about, ...namesOf(failure)};
	const details = detailsOf(failure, named);
	return {
		...statusHead,
		status: 'Failure',
		message: messageOf(failure, named),
		reason: row.reason,
		...(details === undefined ? {} : {details}),
		code: row.http,
	};
}

/** What the failure says of its object: a create has no name in its URL. */
function namesOf({details: {name, kind}}: Failure): About {
	return {...(typeof name === 'string' && name !== '' ? {name} : {}), ...(typeof kind === 'string' ? {kind} : {})};
}

/** The answer to a deletion that is over. The uid lets a client tell a new object of that name from the one it deleted. */
export const deletedStatus = (about: {group: string; plural: string; name: string; uid: string}): StatusDocument => ({
	...statusHead,
	status: 'Success',
	details: {name: about.name, ...(about.group === '' ? {} : {group: about.group}), kind: about.plural, uid: about.uid},
	code: 200,
});

/** The answer to something that was taken and leaves no object to show. */
export const createdStatus: StatusDocument = {...statusHead, status: 'Success', code: 201};

function messageOf(failure: Failure, about: About): string {
	if (failure.code !== 'ERR_INVALID') return failure.message;
	const texts = problemsOf(failure.details).map(formatProblem);
	if (texts.length === 0) return failure.message;
	const subject = about.kind === undefined ? 'the object' : `${about.kind} "${shownName(about.name ?? '')}"`;
	return `${subject} is invalid: ${texts.length === 1 ? texts.join('') : `[${texts.join(', ')}]`}`;
}

function detailsOf(failure: Failure, about: About): JsonObject | undefined {
	switch (failure.code) {
		case 'ERR_INVALID':
			return {...subjectOf(about.name, about.group, about.kind), causes: problemsOf(failure.details).map(causeOf)};
		case 'ERR_NOT_FOUND':
		case 'ERR_ALREADY_EXISTS':
		case 'ERR_CONFLICT': {
			const [plural, group] = splitResource(failure.details['resource']);
			const name = failure.details['name'];
			return subjectOf(typeof name === 'string' ? name : about.name, group ?? about.group, plural ?? about.plural);
		}
		case 'ERR_FORBIDDEN':
			return subjectOf(about.name, about.group, about.plural);
		case 'ERR_DISRUPTION_BUDGET': {
			const {name, cause} = failure.details;
			return {
				...subjectOf(typeof name === 'string' ? name : undefined, 'policy', 'poddisruptionbudgets'),
				causes: [{reason: 'DisruptionBudget', message: typeof cause === 'string' ? cause : ''}],
			};
		}
		case 'ERR_NO_SUCH_PATH':
			return {};
		default:
			return undefined;
	}
}

const causeOf = ({path, message, reason}: Problem): JsonObject => ({reason: reason ?? 'FieldValueInvalid', message, field: path});

const subjectOf = (name: string | undefined, group: string | undefined, kind: string | undefined): JsonObject => ({
	...(name === undefined ? {} : {name: shownName(name)}),
	...(group === undefined || group === '' ? {} : {group}),
	...(kind === undefined ? {} : {kind}),
});

/** `replicasets.apps` is the plural and the group. */
function splitResource(resource: unknown): readonly [string | undefined, string | undefined] {
	if (typeof resource !== 'string') return [undefined, undefined];
	const dot = resource.indexOf('.');
	return dot < 0 ? [resource, ''] : [resource.slice(0, dot), resource.slice(dot + 1)];
}
