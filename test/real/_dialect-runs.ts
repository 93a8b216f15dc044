// The workflows of both older dialects, started by their manifests, by the command, by curl and by mosquitto_pub: the same comes out.

import {writeFileSync} from 'node:fs';
import path from 'node:path';
import type {ExecutionContext} from 'ava';
import type {Run} from '../../api/kinds/run.js';
import {eventually} from '../../bench/rigs/cluster/waiting.js';
import {askedByMessage, dialectA, dialectB, dialectCases} from '../e2e/_dialects.js';
import type {Home} from '../e2e/_rig.js';

export type DialectCluster = {
	readonly home: Pick<Home, 'folder' | 'home' | 'endpoints' | 'token'>;
	readonly fine: (...args: readonly string[]) => Promise<string>;
	/** A program that must succeed, where the cluster is reached; its output. */
	readonly program: (word: string, args: readonly string[]) => Promise<string>;
};

/** Where their functions are deployed. */
export async function checkDialects(t: ExecutionContext, {home, fine, program}: DialectCluster): Promise<void> {
	const apply = async (name: string, text: string): Promise<void> => {
		const file = path.join(home.folder, name);
		writeFileSync(file, text);
		await fine('apply', '-f', file);
	};
	await apply('print.json', dialectB);
	await apply('judged.yaml', dialectA);
	for (const workflow of ['print', 'judged']) await apply(`asked-${workflow}.json`, JSON.stringify(askedByMessage(workflow)));
	const {api, mqtt} = home.endpoints();
	const token = ['-H', `Authorization: Bearer ${home.token()}`];
	const login = ['-h', '127.0.0.1', '-p', new URL(mqtt).port, '-u', 'admin', '-P', home.token()];

	const runsOf = async (workflow: string): Promise<readonly Run[]> =>
		(JSON.parse(await fine('get', 'runs', '-l', `troupe.dev/workflow=${workflow}`, '-o', 'json')) as {readonly items: readonly Run[]})
			.items;
	for (const {workflow, input, output, isOwn} of dialectCases) {
		const text = JSON.stringify(input);
		if (isOwn)
			await eventually(`${workflow} has run by itself`, async () =>
				(await runsOf(workflow)).some(({status}) => status?.phase === 'Succeeded'),
			);
		t.deepEqual(JSON.parse(await fine('workflow', 'start', workflow, '--input', text, '--wait')), output);
		// As somebody does it with nothing but curl: make it, then wait for it.
		const run = {apiVersion: 'troupe.dev/v1', kind: 'Run', metadata: {generateName: `${workflow}-`}, spec: {workflow, input}};
		const place = `${api}/apis/troupe.dev/v1/namespaces/default/runs`;
		const curl = async (...args: readonly string[]): Promise<Run> =>
			JSON.parse(await program('curl', ['-sSf', '--cacert', path.join(home.home, 'ca.crt'), ...token, ...args])) as Run;
		const made = await curl(place, '-H', 'content-type: application/json', '-d', JSON.stringify(run));
		let found = made;
		await eventually(`${made.metadata.name} is over`, async () => {
			found = await curl(`${place}/${made.metadata.name}`);
			return found.status?.completionTime !== undefined;
		});
		t.deepEqual(found.status?.output, output);
		const before = (await runsOf(`asked-${workflow}`)).length;
		await program('mosquitto_pub', [...login, '-q', '1', '-t', `asked/${workflow}`, '-m', text]);
		let asked: readonly Run[] = [];
		await eventually(`the run of the message to asked/${workflow} is over`, async () => {
			asked = await runsOf(`asked-${workflow}`);
			return asked.length > before && asked.every(({status}) => status?.completionTime !== undefined);
		});
		t.is(asked.filter(({status}) => JSON.stringify(status?.output) === JSON.stringify(output)).length, 1, text);
	}
	// The manifest's own, the command's, curl's and the message's.
	for (const workflow of ['print', 'judged']) t.is((await runsOf(workflow)).length, 1 + 2 * 3);
}
