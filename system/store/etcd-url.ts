// Where etcd is: `etcd://host:port[,host:port...][/prefix]`, or `etcds://…?ca=FILE&cert=FILE&key=FILE` with TLS.

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
};

const defaultPort = 2379;
const host = /^(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9.-]+)(?::(\d{1,5}))?$/;

/** @throws AppError that says what is wrong. */
export function parseEtcdUrl(url: string): EtcdPlace {
	const [, scheme, hosts = '', prefix = '', query = ''] = /^(etcds?):\/\/([^/?]*)(\/[^?]*)?(?:\?(.*))?$/.exec(url) ?? [];
	if (scheme === undefined) throw notOne(url, 'it must be etcd://host:port[,host:port...][/prefix]');
	const secure = scheme === 'etcds';
	return {
		hosts: hosts.split(',').map(each => hostOf(url, each)),
		prefix: prefixOf(url, prefix),
		secure,
		files: filesOf(url, secure, query),
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

function filesOf(url: string, secure: boolean, query: string): EtcdPlace['files'] {
	// From where the command was typed: a process that serves leaves that folder.
	const files = Object.fromEntries([...new URLSearchParams(query)].map(([name, file]) => [name, path.resolve(file)]));
	const strange = Object.keys(files).find(name => !secure || !['ca', 'cert', 'key'].includes(name));
	if (strange !== undefined) throw notOne(url, `"${strange}" is not known; etcds:// takes ca, cert and key`);
	if ((files['cert'] === undefined) !== (files['key'] === undefined)) throw notOne(url, 'cert and key belong together');
	if (files['cert'] !== undefined && files['ca'] === undefined) throw notOne(url, 'cert and key need the ca beside them');
	return files;
}

const notOne = (url: string, message: string): AppError => new AppError('ERR_USAGE', {message: `"${url}" names no etcd: ${message}`});
