// A Mosquitto of one test (Debian: mosquitto), with the settings that `troupe broker config` prints, on a port of its own.

import {spawn, type ChildProcess} from 'node:child_process';
import {once} from 'node:events';
import {mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {connect, createServer, type AddressInfo} from 'node:net';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {createInterface} from 'node:readline';
import {brokerConfig} from '../../server/broker-config.js';
import type {BrokerLogin} from '../../server/tokens.js';
import {passwordField, passwordHash} from '../../server/mosquitto-hash.js';
import {within} from '../../bench/rigs/cluster/waiting.js';
import type {Owner} from '../../bench/rigs/owner.js';

export const controlSecret = 'the password of control: #@/%';

export type Mosquitto = {
	readonly port: number;
	/** SIGKILL; ends when it is gone. */
	readonly kill: () => Promise<void>;
	/** Starts it again, on the same port with the same files. */
	readonly start: () => Promise<void>;
	/** Writes its files anew and lets it read them. */
	readonly reload: (logins: readonly BrokerLogin[]) => Promise<void>;
	/** The next line of its log that says so. */
	readonly says: (pattern: RegExp) => Promise<string>;
};

/** On this host, or in the network of another one: `words` stand before its command. */
export async function startMosquitto(
	t: Owner,
	logins: readonly BrokerLogin[],
	{address, words}: {readonly address: string; readonly words: readonly string[]} = {address: '127.0.0.1', words: []},
): Promise<Mosquitto> {
	const folder = mkdtempSync(path.join(tmpdir(), 'troupe-mosquitto-'));
	const port = await freePort();
	const listeners = new Set<(line: string) => void>();
	let child: ChildProcess | undefined;

	const says = (pattern: RegExp): Promise<string> => {
		const line = new Promise<string>(resolve => {
			const listener = (said: string): void => {
				if (!pattern.test(said)) return;
				listeners.delete(listener);
				resolve(said);
			};
			listeners.add(listener);
		});
		return within(`a line ${pattern.source} of mosquitto`, line);
	};
	const write = (all: readonly BrokerLogin[]): void => {
		const files = {passwordFile: path.join(folder, 'passwords'), aclFile: path.join(folder, 'acl')};
		const controlPassword = passwordField(passwordHash(controlSecret));
		const {conf, acl, passwords} = brokerConfig({host: address, port, ...files, logins: all, controlPassword});
		writeFileSync(files.passwordFile, passwords, {mode: 0o600});
		writeFileSync(files.aclFile, acl, {mode: 0o600});
		// Started by root it would become another user, who may not read a test's files.
		writeFileSync(path.join(folder, 'conf'), `${conf}user root\nlog_dest stderr\nlog_type all\n`);
	};
	const start = async (): Promise<void> => {
		const running = says(/^\d+: mosquitto version .* running/);
		const [program = '', ...rest] = [...words, 'mosquitto', '-c', path.join(folder, 'conf')];
		child = spawn(program, rest, {stdio: ['ignore', 'ignore', 'pipe']});
		const failed = once(child, 'exit').then(() => Promise.reject(new Error('mosquitto ended at once')));
		if (child.stderr !== null) createInterface(child.stderr).on('line', line => [...listeners].forEach(listener => listener(line)));
		for (const each of [running, failed]) each.catch(() => undefined);
		await Promise.race([running, failed]);
		if (words.length === 0) await reachable(port);
	};
	const kill = async (): Promise<void> => {
		if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
		const gone = once(child, 'exit');
		child.kill('SIGKILL');
		await within('the end of mosquitto', gone);
	};

	t.teardown(async () => {
		await kill();
		rmSync(folder, {recursive: true, force: true});
	});
	write(logins);
	await start();
	return {
		port,
		kill,
		start,
		async reload(all) {
			write(all);
			const reloaded = says(/Reloading config/i);
			child?.kill('SIGHUP');
			await reloaded;
		},
		says,
	};
}

async function freePort(): Promise<number> {
	const server = createServer();
	server.listen(0, '127.0.0.1');
	await once(server, 'listening');
	const {port} = server.address() as AddressInfo;
	server.close();
	await once(server, 'close');
	return port;
}

async function reachable(port: number): Promise<void> {
	const socket = connect(port, '127.0.0.1');
	await within(`an answer of port ${port}`, once(socket, 'connect'));
	socket.destroy();
}
