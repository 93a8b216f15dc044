// A cluster with functions, as a person deploys them: a folder and a manifest, applied by the command and called at the web door.

import {mkdirSync, readFileSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import type {FunctionLanguage} from '../../../api/function-languages.js';
import type {FunctionObject, FunctionStatus} from '../../../api/kinds/function.js';
import type {ApiObject} from '../../../api/object.js';
import type {Client} from '../../../cli/client.js';
import {readEndpoints} from '../../../cli/files/endpoints.js';
import {homeOf} from '../../../cli/files/home.js';
import type {Scope} from '../../harness/scope.js';
import {startCluster, temporaryFolder, temporaryHome} from '../cluster/cluster.js';
import {until} from '../cluster/waiting.js';
import {line} from '../command-line.js';
import type {Callable} from './call.js';

export type Code = {readonly language: FunctionLanguage; readonly text: string};

export type Deployed = {
	/** Of the cluster. */
	readonly pid: number;
	readonly client: Client;
	/** The folder of its code. */
	readonly deploy: (name: string, code: Code, spec: object) => Promise<string>;
	readonly callable: (name: string) => Callable;
};

export async function startDeployed(scope: Scope, nodeFlags: readonly string[], flags: readonly string[] = []): Promise<Deployed> {
	const home = temporaryHome(scope);
	const {pid, client} = await startCluster(scope, home, {nodeFlags, flags});
	const folder = temporaryFolder(scope, 'functions');
	const {hostname, port} = new URL(readEndpoints(home)?.web ?? '');
	const token = readFileSync(homeOf(home).adminToken, 'utf8').trim();
	return {
		pid,
		client,
		async deploy(name, code, spec) {
			const {code: exitCode, err} = await line(['apply', '-f', written(folder, name, code, spec)], {home});
			if (exitCode !== 0) throw new Error(`apply ended with ${exitCode}: ${err}`);
			return path.join(folder, name);
		},
		callable: name => ({
			host: hostname,
			port,
			path: `/functions/default/${name}`,
			headers: {authorization: `Bearer ${token}`},
		}),
	};
}

/** What is known of a function by its name. */
export const statusIn = (objects: ReadonlyMap<string, ApiObject>, name: string): FunctionStatus | undefined =>
	(objects.get(name) as FunctionObject | undefined)?.status;

/** Resolves when so many instances take calls. Rejects after 20 s. */
export const untilReady = ({client}: Deployed, name: string, instances: number): Promise<unknown> =>
	until(client, 'functions', `${instances} instances of ${name}`, objects => statusIn(objects, name)?.ready === instances);

/** Resolves when it has no instance any more, and no pod of one is left. Rejects after 20 s. Nothing is watched after that. */
export async function untilAtRest({client}: Deployed, name: string): Promise<void> {
	await until(client, 'functions', `${name} at rest`, objects => statusIn(objects, name)?.instances === 0);
	await until(client, 'pods', `no pod of ${name}`, pods => ![...pods.keys()].some(pod => pod.startsWith(`${name}-`)));
}

const files: Readonly<Record<FunctionLanguage, string>> = {python: 'func.py', nodejs: 'func.mjs'};

/** The manifest, which names the folder beside it. */
function written(folder: string, name: string, {language, text}: Code, spec: object): string {
	mkdirSync(path.join(folder, name));
	writeFileSync(path.join(folder, name, files[language]), text);
	const manifest = path.join(folder, `${name}.yaml`);
	const object = {apiVersion: 'troupe.dev/v1', kind: 'Function', metadata: {name}, spec: {userUploadFilePath: name, ...spec}};
	writeFileSync(manifest, JSON.stringify(object));
	return manifest;
}
