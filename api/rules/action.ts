// Rules of what is done in or asked of a container: the handlers of probes and hooks.

import type {JsonObject} from '../object.js';
import {shown} from '../shown.js';
import {didYouMean} from '../suggest.js';
import {checkProgramTexts} from './program-text.js';
import {isEmpty, itemsOf, membersOf, refuse, requireOne, textOf, type Found} from './report.js';

/** A header's name is a token of RFC 9110. */
const headerName = /^[-!#$%&'*+.^_`|~0-9A-Za-z]+$/;

/** Exactly one of the handlers, and well written. `ports` are the names of the container's ports. */
export function checkAction(
	found: Found,
	path: string,
	action: JsonObject,
	handlers: readonly string[],
	ports: readonly string[],
	beside: readonly string[] = [],
): void {
	requireOne(found, path, action, handlers, beside);
	if (action['exec'] !== undefined) checkExec(found, `${path}.exec`, membersOf(action['exec']));
	const httpGet = membersOf(action['httpGet']);
	checkPort(found, `${path}.httpGet.port`, httpGet['port'], ports);
	checkPort(found, `${path}.tcpSocket.port`, membersOf(action['tcpSocket'])['port'], ports);
	checkHttp(found, `${path}.httpGet`, httpGet);
}

function checkExec(found: Found, path: string, {command}: JsonObject): void {
	if (isEmpty(command)) refuse(found, `${path}.command`, 'is required', 'FieldValueRequired');
	checkProgramTexts(found, `${path}.command`, command);
}

function checkPort(found: Found, path: string, port: unknown, names: readonly string[]): void {
	if (typeof port === 'number' && (port < 1 || port > 65_535))
		refuse(found, path, `must be a port from 1 to 65535 or the name of one, got ${shown(port)}`);
	if (typeof port !== 'string' || names.includes(port)) return;
	const hint = /^\d+$/.test(port) ? '; leave out the quotes' : didYouMean(port, names);
	refuse(found, path, `there is no port named ${shown(port)} in the container${hint}`);
}

function checkHttp(found: Found, path: string, http: JsonObject): void {
	const address = textOf(http['path']);
	// A line end would make another request of it.
	if (address !== undefined && /[\0-\x20\x7f]/.test(address))
		refuse(found, `${path}.path`, 'must not contain spaces or control characters');
	itemsOf(http['httpHeaders']).forEach((header, i) => {
		const {name, value} = membersOf(header);
		const at = `${path}.httpHeaders[${i}]`;
		if (typeof name === 'string' && !headerName.test(name)) refuse(found, `${at}.name`, `must be the name of a header, got ${shown(name)}`);
		if (typeof value === 'string' && /[\0\r\n]/.test(value)) refuse(found, `${at}.value`, 'must not contain line ends or a NUL character');
	});
}
