// What the inspector must show to no login of the states and messages of actors: values of Secrets, also sealed ones, variables that are made
// of them, logins, and tokens of tasks with what these are made of.

import {isSealed, lastAppliedAnnotation} from '../api/sealed.js';
import {isObject} from '../api/object.js';

const valuesOfSecrets: ReadonlySet<string> = new Set(['data', 'stringData']);

/** Members that hold a login wherever they stand. */
const logins: ReadonlySet<string> = new Set(['token', 'password', 'credential', 'authorization', 'secretKey', 'privateKey', 'clusterKey']);

/** The part of a run that its tokens are made with. */
const secretPart = 'secret';

/** A token of a task, wherever it stands in a text: the end of the task's key, and the proof. */
const taskToken = /\.\d{1,9}~[0-9a-f]{40}/;

/** Whether a member of an object, or an entry of a map, holds something secret. */
export function isSecretMember(holder: unknown, member: string, value: unknown): boolean {
	if (value === undefined || value === null) return false;
	if (typeof value === 'string' && (isSealed(value) || logins.has(member) || taskToken.test(value))) return true;
	if (holder instanceof Map) return member === secretPart && typeof value === 'string';
	if (!isObject(holder)) return false;
	// What goes over a connection that is relayed.
	if (member === 'data' && holder['step'] === 'data') return true;
	if (holder['kind'] === 'Secret' && valuesOfSecrets.has(member)) return true;
	// What a client applied last of a Secret has its values.
	if (member === lastAppliedAnnotation) return typeof value === 'string' && value.includes('"Secret"');
	return member === 'value' && holder['isSecret'] === true;
}
