// Where etcd is: `etcd://host:port[,host:port...][/prefix]`, or `etcds://…?ca=FILE&cert=FILE&key=FILE&user=NAME&passwordFile=FILE` with TLS.

import path from 'node:path';
import {AppError} from '../../api/errors.js';

export type EtcdPlace = {
	/** `host:port` each. */
	readonly hosts: readonly string[];
	/** Before every key: empty, or `/name` without a slash at its end. */
	readonly prefix: string;
	readonly secure: boolean;
	/** PEM files: who signs etcd's certificate, and what this client shows. */
	readonly files: {readonly ca?: string; readonly cert?: string; readonly key?: string};
	/** Whom etcd is to take this client for, where not by its certificate; the file holds the password. */
	readonly user: {readonly name: string; readonly passwordFile: string} | undefined;
};

const defaultPort = 2379;
const host = /^(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9.-]+)(?::(\d{1,5}))?$/;

/** @throws AppError that says what is wrong. */
export function parseEtcdUrl(url: string): EtcdPlace {
	const [, scheme, hosts = '', prefix = '', query = ''] = /^(etcds?):\/\/([^/?]*)(\/[^?]*)?(?:\?(.*))?$/.exec(url) ?? [];
	if (scheme === undefined) throw notOne(url, 'it must be etcd://host:port[,host:port...][/prefix]');
	const secure = scheme === 'etcds';
	const words = wordsOf(url, secure, query);
	return {
		hosts: hosts.split(',').map(each => hostOf(url, each)),
		prefix: prefixOf(url, prefix),
		secure,
		files: filesOf(url, words),
		user: userOf(url, words),
	};
}

function hostOf(url: string, text: string): string {
	const [, name, port] = host.exec(text) ?? [];
	if (name === undefined || Number(port ?? 0) > 65_535) throw notOne(url, `"${text}" is no host:port`);
	return `${name}:${port ?? defaultPort}`;
}

function prefixOf(url: string, text: string): string {
	const prefix = text.replace(/\/+$/, '');
	if (!/^(\/[\w.-]{1,63})*$/.test(prefix)) throw notOne(url, `the prefix "${text}" may have letters, digits, ".", "_", "-" and "/" only`);
	return prefix;
}

type Words = Readonly<Record<string, string>>;

const known = ['ca', 'cert', 'key', 'user', 'passwordFile'];

function wordsOf(url: string, secure: boolean, query: string): Words {
	const words = Object.fromEntries(new URLSearchParams(query));
	const strange = Object.keys(words).find(name => !secure || !known.includes(name));
	if (strange !== undefined) throw notOne(url, `"${strange}" is not known; etcds:// takes ${known.join(', ')}`);
	return words;
}

function filesOf(url: string, words: Words): EtcdPlace['files'] {
	// From where the command was typed: a process that serves leaves that folder.
	const files = Object.fromEntries(
		['ca', 'cert', 'key'].flatMap(name => (words[name] === undefined ? [] : [[name, path.resolve(words[name])]])),
	);
	if ((files['cert'] === undefined) !== (files['key'] === undefined)) throw notOne(url, 'cert and key belong together');
	if (files['cert'] !== undefined && files['ca'] === undefined) throw notOne(url, 'cert and key need the ca beside them');
	return files;
}

/** The password is in a file: the URL is seen in lists of processes. */
function userOf(url: string, {user: name, passwordFile}: Words): EtcdPlace['user'] {
	if (name === undefined && passwordFile === undefined) return undefined;
	if (!name || !passwordFile) throw notOne(url, 'user and passwordFile belong together');
	return {name, passwordFile: path.resolve(passwordFile)};
}

const notOne = (url: string, message: string): AppError => new AppError('ERR_USAGE', {message: `"${url}" names no etcd: ${message}`});
