// Rules of a pod's volumes and of where its containers see them.

import {limits} from '../limits.js';
import type {JsonObject} from '../object.js';
import {memoryBytes} from '../quantity.js';
import {shown} from '../shown.js';
import {didYouMean} from '../suggest.js';
import {checkDataKey} from './config-data.js';
import {checkDnsLabel, checkDnsSubdomain} from './names.js';
import {checkProgramText} from './program-text.js';
import {itemsOf, membersOf, refuse, refuseDuplicates, requireOne, textOf, type Found} from './report.js';

const sources = ['hostPath', 'emptyDir', 'configMap', 'secret', 'nfs', 'persistentVolumeClaim'];

/** What is looked for before a folder or file of the host is used. */
const hostPathTypes = ['', 'DirectoryOrCreate', 'Directory', 'FileOrCreate', 'File', 'Socket', 'CharDevice', 'BlockDevice'];

export function checkVolumes(found: Found, path: string, volumes: unknown): void {
	const names = itemsOf(volumes).flatMap((item, i) => {
		const at = `${path}[${i}]`;
		const volume = membersOf(item);
		checkVolume(found, at, volume);
		const name = textOf(volume['name']);
		return name === undefined ? [] : [{value: name, path: `${at}.name`}];
	});
	refuseDuplicates(found, names, name => `there is a volume ${shown(name)} already`);
}

function checkVolume(found: Found, path: string, volume: JsonObject): void {
	const name = textOf(volume['name']);
	if (name !== undefined) checkDnsLabel(found, `${path}.name`, name);
	requireOne(found, path, volume, sources, ['name']);
	checkHostPath(found, `${path}.hostPath`, membersOf(volume['hostPath']));
	checkEmptyDir(found, `${path}.emptyDir`, membersOf(volume['emptyDir']));
	checkFiles(found, `${path}.configMap`, membersOf(volume['configMap']), 'name');
	checkFiles(found, `${path}.secret`, membersOf(volume['secret']), 'secretName');
	checkNfs(found, `${path}.nfs`, membersOf(volume['nfs']));
	const claim = textOf(membersOf(volume['persistentVolumeClaim'])['claimName']);
	if (claim !== undefined) checkDnsSubdomain(found, `${path}.persistentVolumeClaim.claimName`, claim);
}

export function checkHostPath(found: Found, path: string, {path: folder, type}: JsonObject): void {
	if (typeof folder === 'string') checkAbsolute(found, `${path}.path`, folder);
	if (typeof type !== 'string' || hostPathTypes.includes(type)) return;
	const words = hostPathTypes.slice(1);
	refuse(
		found,
		`${path}.type`,
		`must be one of ${words.join(', ')}, got ${shown(type)}${didYouMean(type, words)}`,
		'FieldValueNotSupported',
	);
}

/** A host name or an IPv4 address, or an IPv6 address. Neither begins like an option of a program. */
const serverForm = /^(?:[A-Za-z0-9](?:[A-Za-z0-9.-]{0,251}[A-Za-z0-9])?|[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*)$/;

export function checkNfs(found: Found, path: string, {server, path: folder}: JsonObject): void {
	if (typeof server === 'string' && (server.length > 253 || !serverForm.test(server)))
		refuse(found, `${path}.server`, `must be the name or the address of a host, got ${shown(server)}`);
	if (typeof folder === 'string') checkExport(found, `${path}.path`, folder);
}

/** It becomes a word of a command line, and part of one line that says why it cannot be mounted. */
function checkExport(found: Found, path: string, text: string): void {
	const most = limits.pathBytes;
	if (text.length > most) refuse(found, path, `must have at most ${most} characters, got ${text.length}`);
	else if (/\p{Cc}/u.test(text)) refuse(found, path, `must not contain control characters, got ${shown(text)}`);
	else checkAbsolute(found, path, text);
}

function checkEmptyDir(found: Found, path: string, {medium, sizeLimit}: JsonObject): void {
	if (typeof medium === 'string' && medium !== '' && medium !== 'Memory')
		refuse(found, `${path}.medium`, `must be Memory or left out, got ${shown(medium)}`, 'FieldValueNotSupported');
	if (typeof sizeLimit !== 'string' && typeof sizeLimit !== 'number') return;
	const bytes = memoryBytes(sizeLimit);
	if (bytes === undefined || bytes < 0)
		refuse(found, `${path}.sizeLimit`, `must be a quantity such as "128Mi" or 134217728, got ${shown(sizeLimit)}`);
}

/** The entries of a ConfigMap or Secret as files. */
function checkFiles(found: Found, path: string, source: JsonObject, nameField: string): void {
	const name = textOf(source[nameField]);
	if (name !== undefined) checkDnsSubdomain(found, `${path}.${nameField}`, name);
	const paths = itemsOf(source['items']).flatMap((item, i) => {
		const at = `${path}.items[${i}]`;
		const {key, path: file} = membersOf(item);
		if (typeof key === 'string') checkDataKey(found, `${at}.key`, key);
		if (typeof file !== 'string') return [];
		checkRelative(found, `${at}.path`, file);
		return [{value: file, path: `${at}.path`}];
	});
	refuseDuplicates(found, paths, (file, first) => `${shown(file)} is the file of ${first.replace(/\.path$/, '')} already`);
}

/** `volumes` are the names of the pod's volumes. */
export function checkMounts(found: Found, path: string, mounts: unknown, volumes: readonly string[]): void {
	const places = itemsOf(mounts).flatMap((item, i) => {
		const at = `${path}[${i}]`;
		const {name, mountPath, subPath} = membersOf(item);
		if (typeof name === 'string' && !volumes.includes(name))
			refuse(found, `${at}.name`, `there is no volume ${shown(name)} in the pod${didYouMean(name, volumes)}`);
		if (typeof subPath === 'string' && subPath !== '') checkRelative(found, `${at}.subPath`, subPath);
		if (typeof mountPath !== 'string') return [];
		checkMountPath(found, `${at}.mountPath`, mountPath);
		return [{value: withoutEnd(mountPath), path: `${at}.mountPath`}];
	});
	refuseDuplicates(
		found,
		places,
		(place, first) => `something is mounted at ${shown(place)} already, by ${first.replace(/\.mountPath$/, '')}`,
	);
}

const withoutEnd = (path: string): string => path.replace(/\/+$/, '');

function checkMountPath(found: Found, path: string, text: string): void {
	if (text.includes(':')) refuse(found, path, `must not contain ":", got ${shown(text)}`);
	else if (withoutEnd(text) === '' && text !== '') refuse(found, path, 'must not be the root: programs and their libraries are there');
	else checkAbsolute(found, path, text);
}

/** `/usr//./bin/` is `/usr/bin`. */
export const plainPath = (path: string): string => path.replace(/\/+(?:\.?\/+)*/g, '/').replace(/\/\.?$/, '');

export const goesUp = (text: string): boolean => text.split('/').includes('..');

/** Absolute, and nothing in it that leads elsewhere. */
export function checkAbsolute(found: Found, path: string, text: string): void {
	if (!text.startsWith('/')) refuse(found, path, `must be an absolute path, beginning with "/", got ${shown(text)}`);
	else if (goesUp(text)) refuse(found, path, `must not contain "..", got ${shown(text)}`);
	else checkProgramText(found, path, text);
}

function checkRelative(found: Found, path: string, text: string): void {
	if (text === '' || text.startsWith('/')) refuse(found, path, `must be a relative path, not beginning with "/", got ${shown(text)}`);
	else if (goesUp(text)) refuse(found, path, `must not contain "..", got ${shown(text)}`);
	else checkProgramText(found, path, text);
}
