// As whom a container runs, and with which rights.

import type {JsonObject} from '../object.js';
import {shown} from '../shown.js';
import {below, refuse, type At} from './findings.js';
import {flagOf, textOf, textsOf} from './values.js';

/** The container's securityContext; undefined where nothing is said. */
export function securityOf(service: At, fields: JsonObject): JsonObject | undefined {
	const privileged = flagOf(below(service, 'privileged'), fields['privileged']);
	const readOnly = flagOf(below(service, 'read_only'), fields['read_only']);
	const parts = {
		...userOf(below(service, 'user'), textOf(below(service, 'user'), fields['user'])),
		...(privileged === true ? {privileged} : {}),
		...(readOnly === true ? {readOnlyRootFilesystem: true} : {}),
		...capabilitiesOf(service, fields),
		...optionsOf(below(service, 'security_opt'), fields['security_opt']),
	};
	return Object.keys(parts).length === 0 ? undefined : parts;
}

/** `1000`, or `1000:1000`. */
function userOf(at: At, text: string | undefined): JsonObject {
	if (text === undefined || text === '') return {};
	if (text === 'root' || text === 'root:root') return {runAsUser: 0, ...(text === 'root' ? {} : {runAsGroup: 0})};
	const [, user, group] = /^(\d{1,9})(?::(\d{1,9}))?$/.exec(text) ?? [];
	if (user === undefined)
		return refuse(at, `must be numbers, such as "1000:1000": names are known to the image alone, got ${shown(text)}`) ?? {};
	return {runAsUser: Number(user), ...(group === undefined ? {} : {runAsGroup: Number(group)})};
}

function capabilitiesOf(service: At, fields: JsonObject): JsonObject {
	const [add, drop] = (['cap_add', 'cap_drop'] as const).map(field =>
		textsOf(below(service, field), fields[field]).map(({text}) => text.toUpperCase().replace(/^CAP_/, '')),
	);
	const parts = {...(add?.length ? {add} : {}), ...(drop?.length ? {drop} : {})};
	return Object.keys(parts).length === 0 ? {} : {capabilities: parts};
}

const options: {readonly [option: string]: JsonObject} = {
	'no-new-privileges': {allowPrivilegeEscalation: false},
	'no-new-privileges:true': {allowPrivilegeEscalation: false},
	'no-new-privileges:false': {allowPrivilegeEscalation: true},
	'seccomp:unconfined': {seccompProfile: {type: 'Unconfined'}},
};

function optionsOf(at: At, value: JsonObject[string]): JsonObject {
	const known = textsOf(at, value).map(({text, at: here}): JsonObject => {
		const option = text.replace(/^([\w-]+)=/, '$1:');
		const meant = Object.hasOwn(options, option) ? options[option] : undefined;
		return meant ?? refuse(here, `must be no-new-privileges or seccomp:unconfined: others cannot be said, got ${shown(text)}`) ?? {};
	});
	return Object.assign({}, ...known) as JsonObject;
}

/** `group_add`: numbers of groups. */
export function groupsOf(service: At, fields: JsonObject): readonly number[] {
	return textsOf(below(service, 'group_add'), fields['group_add']).flatMap(({text, at}) =>
		/^\d{1,9}$/.test(text)
			? [Number(text)]
			: (refuse(at, `must be a number: names are known to the image alone, got ${shown(text)}`) ?? []),
	);
}
