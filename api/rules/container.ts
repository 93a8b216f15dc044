// Rules of one container.

import type {Json, JsonObject} from '../object.js';
import {shown} from '../shown.js';
import {checkEnv, checkEnvFrom, refuseNul} from './env.js';
import {checkDnsLabel} from './names.js';
import {itemsOf, membersOf, refuse, refuseDuplicates, refuseOthers, refuseUnsupported, textOf, type Found} from './report.js';
import {checkResources} from './resources.js';

/** No part of this version acts on them. */
const later = new Set(['volumeMounts', 'livenessProbe', 'readinessProbe', 'startupProbe', 'lifecycle', 'stdin', 'stdinOnce', 'tty']);
/** Values that ask for what happens anyway. */
const fixed = new Map([
	['terminationMessagePath', ['/dev/termination-log']],
	['terminationMessagePolicy', ['File']],
]);
const laterSecurity = new Set(['runAsNonRoot', 'privileged', 'readOnlyRootFilesystem', 'capabilities']);

export function checkContainer(found: Found, path: string, container: JsonObject): void {
	const name = textOf(container['name']);
	if (name !== undefined) checkDnsLabel(found, `${path}.name`, name);
	const image = textOf(container['image']);
	if (image !== undefined) checkImage(found, `${path}.image`, image);
	checkWords(found, `${path}.command`, container['command']);
	checkWords(found, `${path}.args`, container['args']);
	const workingDir = textOf(container['workingDir']);
	if (workingDir !== undefined) refuseNul(found, `${path}.workingDir`, workingDir);
	checkEnv(found, `${path}.env`, container['env']);
	checkEnvFrom(found, `${path}.envFrom`, container['envFrom']);
	checkPorts(found, `${path}.ports`, container['ports']);
	if (container['resources'] !== undefined) checkResources(found, `${path}.resources`, container['resources']);
	refuseUnsupported(found, container, path, later);
	refuseOthers(found, container, path, fixed);
	if (container['securityContext'] !== undefined) checkSecurity(found, `${path}.securityContext`, membersOf(container['securityContext']));
}

function checkImage(found: Found, path: string, image: string): void {
	if (image === '') refuse(found, path, 'is required', 'FieldValueRequired');
	else if (image.trim() !== image) refuse(found, path, `must not begin or end with a space, got ${shown(image)}`);
}

function checkWords(found: Found, path: string, words: Json | undefined): void {
	itemsOf(words).forEach((word, i) => {
		if (typeof word === 'string') refuseNul(found, `${path}[${i}]`, word);
	});
}

function checkSecurity(found: Found, path: string, security: JsonObject): void {
	refuseUnsupported(found, security, path, laterSecurity);
	if (security['allowPrivilegeEscalation'] === false) {
		refuse(
			found,
			`${path}.allowPrivilegeEscalation`,
			'"allowPrivilegeEscalation" set to false is not supported yet',
			'FieldValueForbidden',
		);
	}
}

function checkPorts(found: Found, path: string, ports: unknown): void {
	const names: {value: string; path: string}[] = [];
	itemsOf(ports).forEach((port, i) => {
		const at = `${path}[${i}]`;
		const {name, hostIP} = membersOf(port);
		if (typeof name === 'string') {
			checkPortName(found, `${at}.name`, name);
			names.push({value: name, path: `${at}.name`});
		}
		if (typeof hostIP === 'string' && hostIP !== '' && hostIP !== '0.0.0.0') {
			refuse(found, `${at}.hostIP`, `"hostIP" is not supported yet, got ${shown(hostIP)}`, 'FieldValueForbidden');
		}
	});
	refuseDuplicates(found, names, (name, first) => `${shown(name)} is the name of ${first.replace(/\.name$/, '')} already`);
}

/** An IANA service name, RFC 6335 section 5.1. */
function checkPortName(found: Found, path: string, name: string): void {
	const isServiceName = name.length <= 15 && /^[a-z0-9]+(-[a-z0-9]+)*$/.test(name) && /[a-z]/.test(name);
	if (isServiceName) return;
	refuse(found, path, `must be at most 15 lower-case letters, digits and single "-", with at least one letter, got ${shown(name)}`);
}
