// A real registry (Debian's docker-registry) on the loopback of an Engine's network namespace, behind a password. Ends with its owner.

import {execFile, spawn} from 'node:child_process';
import {closeSync, mkdirSync, openSync, readFileSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {promisify} from 'node:util';
import type {Owner} from '../owner.js';
import type {Dockerd} from './dockerd.js';
import {until} from './server.js';

const run = promisify(execFile);

export type DockerRegistry = {
	/** What names of its images begin with. */
	readonly host: string;
	readonly username: string;
	readonly password: string;
	/** Gives an image of the Engine this name in the registry, and takes it from the Engine. */
	readonly push: (image: string, name: string) => Promise<void>;
	/** Requests so far whose line has this text in it. */
	readonly requests: (text: string) => number;
};

/** `isOpen`: it asks for no password. */
export async function startDockerRegistry(t: Owner, dockerd: Dockerd, {isOpen = false} = {}): Promise<DockerRegistry> {
	const {docker, namespace} = dockerd;
	const folder = path.join(dockerd.folder, 'registry');
	const host = '127.0.0.1:5000';
	const [username, password] = ['anna', 'open:sesame'];
	mkdirSync(folder);
	const users = path.join(folder, 'users');
	const {stdout} = await run('htpasswd', ['-nbB', username, password]);
	writeFileSync(users, stdout);
	const config = path.join(folder, 'config.yml');
	writeFileSync(config, JSON.stringify(configOf(folder, host, isOpen ? undefined : users)));
	const log = path.join(folder, 'log');
	const output = openSync(log, 'a');
	const child = spawn('nsenter', [`--net=/var/run/netns/${namespace}`, 'docker-registry', 'serve', config], {
		stdio: ['ignore', output, output],
	});
	closeSync(output);
	let failure: string | undefined;
	child.once('error', error => (failure = error.message));
	const ended = new Promise<void>(resolve => child.once('close', () => resolve()));
	t.teardown(async () => {
		child.kill('SIGKILL');
		await ended;
	});
	await until('the registry answers', () => {
		if (failure !== undefined || child.exitCode !== null)
			throw new Error(`docker-registry does not run: ${failure ?? readFileSync(log, 'utf8')}`);
		const answer = isOpen
			? dockerd.inNamespace('busybox', 'wget', '-qO', '/dev/null', `http://${host}/v2/`)
			: docker('login', '-u', username, '-p', password, host);
		return answer.then(
			() => true,
			() => false,
		);
	});
	return {
		host,
		username,
		password,
		async push(image, name) {
			await docker('tag', image, `${host}/${name}`);
			await docker('push', `${host}/${name}`);
			await docker('rmi', `${host}/${name}`);
		},
		requests: text =>
			readFileSync(log, 'utf8')
				.split('\n')
				.filter(line => line.includes(`"${text}`)).length,
	};
}

/** YAML takes JSON. */
const configOf = (folder: string, host: string, users: string | undefined) => ({
	version: 0.1,
	storage: {filesystem: {rootdirectory: path.join(folder, 'data')}},
	http: {addr: host},
	...(users === undefined ? {} : {auth: {htpasswd: {realm: 'troupe', path: users}}}),
});
