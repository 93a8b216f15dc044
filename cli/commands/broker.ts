// `troupe broker config [DIR]`: the files of a Mosquitto that serves as the cluster's broker, shown, or written where it reads them.
//
// They hold hashes of every login: mode 0600, and owned by whom the folder belongs to, so that a broker that runs as another user can
// read what root wrote. A file that something else made is not replaced unasked.

import {mkdir, open, readFile, rename, stat, unlink} from 'node:fs/promises';
import {randomUUID} from 'node:crypto';
import path from 'node:path';
import {brokerConfigPath, brokerFileMark, brokerFileNames, brokerFolder, type BrokerConfigAnswer} from '../../api/broker-config.js';
import {didYouMean} from '../../api/suggest.js';
import {syncDirectory} from '../../system/files/atomic-file.js';
import {hasCode} from '../../system/files/errno.js';
import {isWildcard} from '../serving/control/addresses.js';
import {failedError, type Invocation, usageError} from '../command.js';
import {withClient} from '../cluster/session.js';
import {type HostPort, formatHostPort} from '../../api/host-port.js';
import {parseHostPort} from '../serving/serving-options.js';

const verbs = ['config'];

export async function run(invocation: Invocation): Promise<number> {
	const {flags, inputs, terminal} = invocation;
	const [verb = '', directory, ...more] = inputs;
	if (!verbs.includes(verb))
		throw usageError(
			verb === '' ? 'broker takes what to do, as in: troupe broker config' : `unknown verb "${verb}" of broker${didYouMean(verb, verbs)}`,
		);
	if (more.length > 0) throw usageError('config takes one folder at most, as in: troupe broker config /etc/mosquitto/troupe');
	const listen = listenOf(flags.text('listen'));
	const folder = directory === undefined ? brokerFolder : path.resolve(directory);
	const query = {folder, ...listen};
	const answer = await withClient(invocation, async client => (await client.json({path: brokerConfigPath, query})) as BrokerConfigAnswer);
	const files = filesOf(answer, folder);
	if (directory === undefined) terminal.out(files.map(({file, text}) => `==> ${file} <==\n${text}`).join('\n'));
	else {
		await writeAll(folder, files, flags.on('force'));
		terminal.out(files.map(({file}) => `${file} written\n`).join(''));
	}
	for (const note of notesOn(answer, folder, listen)) terminal.note(`note: ${note}`);
	return 0;
}

function listenOf(text: string | undefined): HostPort | undefined {
	if (text === undefined) return undefined;
	const listen = parseHostPort(text, '');
	if (listen === undefined || listen.host === '' || listen.port === 0)
		throw usageError(`--listen must be HOST:PORT such as 0.0.0.0:8883, got "${text}"`);
	return listen;
}

type BrokerFile = {readonly file: string; readonly text: string};

const filesOf = (answer: BrokerConfigAnswer, folder: string): readonly BrokerFile[] =>
	(['conf', 'acl', 'passwords'] as const).map(name => ({file: path.join(folder, brokerFileNames[name]), text: answer[name]}));

function notesOn({tls, controlPassword}: BrokerConfigAnswer, folder: string, listen: HostPort | undefined): readonly string[] {
	const {certificate, key} = brokerFileNames;
	const notes = [
		`mosquitto -c ${path.join(folder, brokerFileNames.conf)} starts the broker; one that runs reads the files anew at SIGHUP: after each join, new token and revocation`,
	];
	if (tls) notes.push(`it speaks TLS: put its certificate and key into ${path.join(folder, certificate)} and ${path.join(folder, key)}`);
	if (controlPassword === undefined || listen === undefined) return notes;
	const place = formatHostPort({...listen, host: isWildcard(listen.host) ? 'HOST' : listen.host});
	const url = `mqtt${tls ? 's' : ''}://control:${controlPassword}@${place}`;
	return [...notes, `this is the only time that the password is shown: TROUPE_BROKER=${url} for each server, and start it again`];
}

/** All or, where one of them was not written by this command, none. */
async function writeAll(folder: string, files: readonly BrokerFile[], force: boolean): Promise<void> {
	for (const {file} of files)
		if (!force && !(await isFree(file))) throw failedError(`${file} was not made by this command; --force replaces it`);
	try {
		await mkdir(folder, {recursive: true, mode: 0o700});
		for (const {file, text} of files) await write(file, text);
		await syncDirectory(folder);
	} catch (error) {
		throw failedError(`${folder} cannot be written: ${(error as Error).message}`);
	}
}

/** Not there, or made by this command. */
async function isFree(file: string): Promise<boolean> {
	try {
		const [first = ''] = (await readFile(file, 'utf8')).split('\n', 1);
		return first.includes(brokerFileMark);
	} catch (error) {
		if (hasCode(error, 'ENOENT')) return true;
		throw failedError(`${file} cannot be read: ${(error as Error).message}`);
	}
}

/** In one step: a broker that reads it meanwhile sees the old one or the new one. */
async function write(file: string, text: string): Promise<void> {
	const folder = path.dirname(file);
	const temporary = path.join(folder, `.${path.basename(file)}.${randomUUID()}`);
	const handle = await open(temporary, 'wx', 0o600);
	try {
		const [owner, own] = await Promise.all([stat(folder), handle.stat()]);
		if (owner.uid !== own.uid) await handle.chown(owner.uid, owner.gid);
		await handle.writeFile(text);
		await handle.sync();
		await handle.close();
		await rename(temporary, file);
	} catch (error) {
		await handle.close();
		await unlink(temporary).catch(() => undefined);
		throw error;
	}
}
