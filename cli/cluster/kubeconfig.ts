// Which cluster, and who we are there: read from a kubeconfig as kubectl writes and reads it.

import {existsSync, readFileSync, statSync} from 'node:fs';
import path from 'node:path';
import {AppError} from '../../api/errors.js';
import {limits} from '../../api/limits.js';
import {serversExtension} from '../../server/kubeconfig.js';
import {homeOf} from '../files/home.js';
import {usageError} from '../command.js';

export type Connection = {
	/** The kubeconfig it came from. */
	readonly file: string;
	/** `https://127.0.0.1:6443`, perhaps with a path in front of everything. */
	readonly server: URL;
	/** Where the cluster has other servers: they are asked in turn when this one is not reachable or does not lead. */
	readonly others: readonly URL[];
	/** Certificates to trust, PEM; undefined: those of the system. */
	readonly ca: string | undefined;
	readonly trustAnyone: boolean;
	readonly token: string | undefined;
	/** Of clusters that know people by certificate, PEM. */
	readonly clientCertificate: string | undefined;
	readonly clientKey: string | undefined;
	/** Where objects are looked for when no flag or context says otherwise. */
	readonly namespace: string;
};

export type Sources = {
	/** `--kubeconfig`. */
	readonly flag: string | undefined;
	/** The one in the home. */
	readonly ofHome: string;
	/** Whether `--home` or TROUPE_HOME says which home: then it is that one or none. */
	readonly homeIsChosen?: boolean;
	/** KUBECONFIG: one file or several, separated by colons. Mostly it is another tool's, so everything else comes first. */
	readonly fromEnvironment: string | undefined;
};

/** Where a command line finds its cluster. */
export const sourcesOf = (
	flags: {readonly kubeconfig: string | undefined; readonly home: string | undefined},
	environment: Readonly<Record<string, string | undefined>>,
	home: string,
): Sources => ({
	flag: flags.kubeconfig,
	ofHome: homeOf(home).kubeconfig,
	homeIsChosen: flags.home !== undefined || (environment['TROUPE_HOME'] ?? '') !== '',
	fromEnvironment: environment['KUBECONFIG'],
});

/** Told whenever no cluster answers. */
export const startHint = 'is the cluster running? start it with npm start or troupe up';

type Named = {readonly name?: unknown; readonly [part: string]: unknown};
type Fields = {readonly [field: string]: unknown};
type Kubeconfig = {readonly file: string; readonly text: Fields};

/** Finds and reads the connection; from a pipe, which may be silent for so long. Throws ERR_NOT_REACHABLE when there is no kubeconfig, ERR_USAGE when it makes no sense. */
export async function readConnection(sources: Sources, silenceMs: number = limits.manifestSilenceMs): Promise<Connection> {
	const found = filesOf(sources);
	const configs = (await Promise.all(found.files.map(file => readKubeconfig(file, silenceMs)))).flat();
	const [first] = configs;
	if (first === undefined) throw noCluster(found);
	const current = configs.map(({text}) => text['current-context']).find(name => typeof name === 'string' && name !== '');
	const context = entry(configs, 'contexts', current, first.file).fields;
	const cluster = entry(configs, 'clusters', context['cluster'], first.file);
	const user = context['user'] === undefined ? undefined : entry(configs, 'users', context['user'], first.file);
	return {
		file: cluster.file,
		server: serverOf(cluster.fields['server'], cluster.file),
		others: othersOf(cluster.fields, cluster.file),
		ca: pem(cluster.fields, 'certificate-authority', cluster.file),
		trustAnyone: cluster.fields['insecure-skip-tls-verify'] === true,
		...credentials(user),
		namespace: typeof context['namespace'] === 'string' && context['namespace'] !== '' ? context['namespace'] : 'default',
	};
}

type ConfigFiles = {readonly files: readonly string[]; readonly from: '--kubeconfig' | 'KUBECONFIG' | 'home'};

function filesOf({flag, ofHome, homeIsChosen = false, fromEnvironment}: Sources): ConfigFiles {
	if (flag !== undefined) return {files: [flag], from: '--kubeconfig'};
	const named = (fromEnvironment ?? '').split(path.delimiter).filter(file => file !== '');
	if (homeIsChosen || named.length === 0 || existsSync(ofHome)) return {files: [ofHome], from: 'home'};
	return {files: named, from: 'KUBECONFIG'};
}

function noCluster({files, from}: ConfigFiles): AppError {
	const file = files.join(', ');
	const message = from === 'home' ? `there is no cluster in ${path.dirname(file)}` : `there is no file ${file} (${from})`;
	return new AppError('ERR_NOT_REACHABLE', {message: `${message}; ${startHint}`});
}

async function readKubeconfig(file: string, silenceMs: number): Promise<Kubeconfig[]> {
	const text = isNoFile(file) ? await pouredFrom(file, silenceMs) : textOf(file);
	if (text === undefined) return [];
	const problem = (message: string) => usageError(`${file} is not a kubeconfig: ${message}`);
	let content: unknown;
	try {
		content = await parsed(text);
	} catch (error) {
		throw problem(error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error));
	}
	if (typeof content !== 'object' || content === null || Array.isArray(content)) throw problem('it must be a mapping');
	return [{file, text: content as Fields}];
}

/** YAML; a kubeconfig in JSON, which is YAML too, is read without loading a parser for it. */
async function parsed(text: string): Promise<unknown> {
	if (text.startsWith('{')) return JSON.parse(text) as unknown;
	const {parse} = await import('yaml');
	return parse(text, {maxAliasCount: 0}) as unknown;
}

/** A pipe or a device: a read of it might never end. */
const isNoFile = (file: string): boolean => {
	try {
		const found = statSync(file);
		return !found.isFile() && !found.isDirectory();
	} catch {
		return false; // Reading it says why.
	}
};

/** As of `--kubeconfig <(decrypt kubeconfig)`. */
async function pouredFrom(file: string, silenceMs: number): Promise<string> {
	const {readFileAt, reasonOf} = await import('../files/bounded-file.js');
	try {
		return Buffer.from(await readFileAt(file, limits.manifestBytes, silenceMs)).toString('utf8');
	} catch (error) {
		throw usageError(`${file} cannot be read: ${reasonOf(error)}`);
	}
}

function textOf(file: string): string | undefined {
	try {
		return readFileSync(file, 'utf8');
	} catch (error) {
		const {code, message} = error as NodeJS.ErrnoException;
		if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
		throw usageError(`${file} cannot be read: ${message}`);
	}
}

/** The entry of that name in the first file that has it. */
function entry(configs: readonly Kubeconfig[], list: string, name: unknown, file: string): {fields: Fields; file: string} {
	if (typeof name !== 'string') throw usageError(`${file} names no ${list.slice(0, -1)}; it has no current-context that says which`);
	for (const config of configs) {
		const entries = config.text[list];
		const found = Array.isArray(entries) ? (entries as readonly (Named | null)[]).find(one => one?.name === name) : undefined;
		const fields = found?.[list.slice(0, -1)];
		if (typeof fields === 'object' && fields !== null) return {fields: fields as Fields, file: config.file};
	}
	throw usageError(`${file} has no entry "${name}" under ${list}`);
}

/** The extension that a server of ours writes; kubectl passes it over. */
function othersOf(cluster: Fields, file: string): readonly URL[] {
	const extensions = Array.isArray(cluster['extensions']) ? (cluster['extensions'] as readonly (Named | null)[]) : [];
	const extension = extensions.find(one => one?.name === serversExtension)?.['extension'] as Fields | undefined;
	const servers = Array.isArray(extension?.['servers']) ? (extension['servers'] as readonly unknown[]) : [];
	return servers.filter(server => server !== cluster['server']).map(server => serverOf(server, file));
}

function serverOf(text: unknown, file: string): URL {
	const url = typeof text === 'string' && URL.canParse(text) ? new URL(text) : undefined;
	if (url?.protocol !== 'https:' && url?.protocol !== 'http:')
		throw usageError(`${file}: server must be an https URL, got ${JSON.stringify(text)}`);
	return url;
}

function credentials(user: {fields: Fields; file: string} | undefined): Pick<Connection, 'token' | 'clientCertificate' | 'clientKey'> {
	if (user === undefined) return {token: undefined, clientCertificate: undefined, clientKey: undefined};
	const {fields, file} = user;
	for (const plugin of ['exec', 'auth-provider'])
		if (fields[plugin] !== undefined)
			throw usageError(`${file}: a login by "${plugin}" is not supported; a token or a client certificate is`);
	const tokenFile = fields['tokenFile'];
	const token = typeof fields['token'] === 'string' ? fields['token'] : typeof tokenFile === 'string' ? beside(file, tokenFile) : undefined;
	if (token !== undefined && !/^[\x21-\x7e]*$/.test(token.trim()))
		throw usageError(`${file}: the token of the user holds characters that no token has`);
	return {token: token?.trim(), clientCertificate: pem(fields, 'client-certificate', file), clientKey: pem(fields, 'client-key', file)};
}

/** A PEM that is inside as base64 (`…-data`) or in a file of its own. */
function pem(fields: Fields, name: string, file: string): string | undefined {
	const data = fields[`${name}-data`];
	if (typeof data === 'string' && data !== '') return Buffer.from(data, 'base64').toString('utf8');
	const other = fields[name];
	return typeof other === 'string' && other !== '' ? beside(file, other) : undefined;
}

/** Paths in a kubeconfig are relative to it. */
function beside(file: string, other: string): string {
	const found = path.resolve(path.dirname(file), other);
	if (isNoFile(found)) throw usageError(`${file} names ${other}, which is no file`);
	const text = textOf(found);
	if (text === undefined) throw usageError(`${file} names ${other}, which does not exist`);
	return text;
}
