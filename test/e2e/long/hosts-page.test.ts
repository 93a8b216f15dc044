// The commands of docs/hosts.md do what the page shows, typed in their order. Its port is a free one here.

import {readFileSync} from 'node:fs';
import {createServer, type AddressInfo} from 'node:net';
import path from 'node:path';
import test from 'ava';
import {compare, filledIn, root, stepsOf} from '../_readme.js';
import {openStage} from '../_stage.js';
import {eventually} from '../../../bench/rigs/cluster/waiting.js';

const homes = ['~/host-1', '~/host-2'];

test('the commands of docs/hosts.md work in their order and print what it shows', async t => {
	t.timeout(120_000);
	const stage = openStage({realCurl: false});
	t.teardown(async () => {
		for (const home of homes) await stage.type(`./troupe down --pods --home ${home}`);
		await stage.close();
	});
	const values = new Map([['6443', String(await freePort())]]);
	const steps = stepsOf(readFileSync(path.join(root, 'docs/hosts.md'), 'utf8'));
	t.true(steps.length > 7);
	for (const step of steps) {
		const command = filledIn(step.command, values);
		if (command.endsWith('get nodes'))
			await eventually('both are ready', async () => (await stage.type(command)).out.match(/ Ready /g)?.length === 2);
		const {code, out} = await stage.type(command);
		t.is(code, 0, out);
		t.is(compare(step, out.replaceAll(stage.folder, '/home/ada'), values), undefined, `${step.command}\n${out}`);
	}
});

/** Nobody had it a moment ago. */
function freePort(): Promise<number> {
	const server = createServer();
	return new Promise(resolve =>
		server.listen(0, '127.0.0.1', () => {
			const {port} = server.address() as AddressInfo;
			server.close(() => resolve(port));
		}),
	);
}
