// The runtime's contract once more, with pods in sandboxes that were made in advance.

import test from 'ava';
import type {SandboxSpec} from '../../actors/node/runtime/runtime-port.js';
import type {DockerRuntime} from '../../agent/docker-runtime.js';
import {until} from '../../bench/rigs/servers/server.js';
import {dockerWorld, type DockerWorld} from '../agent/docker-world.js';
import {lostSandboxContract} from '../agent/lost-sandbox-contract.js';
import {runtimeContract} from '../agent/runtime-contract.js';
import {sharedDockerd} from './_dockerd.js';
import {infrasIn, spareIn} from './_warm-sandboxes.js';

const dockerd = sharedDockerd(test);

/** The Engine gives out addresses, and a freed one at once. */
const byEngine = 'the address of a removed sandbox is not given to the next one';
/** Here a sandbox is asked for a moment after the test has asked. */
const atOnce = 'a sandbox that is asked for and removed in one breath is not there';

let taken = 0;

/** Each sandbox is asked for when one is ready. */
function warmWorld(teardown: Parameters<typeof dockerWorld>[1]): DockerWorld {
	const world = dockerWorld(dockerd(), teardown, {warm: {count: 2, fromStart: true}});
	const {directory} = world;
	const waiting = (runtime: DockerRuntime): DockerRuntime => ({
		...runtime,
		run(command, done) {
			const uid = command.type === 'sandbox.ensure' && 'spec' in command ? (command.spec as SandboxSpec).uid : undefined;
			if (uid === undefined) return runtime.run(command, done);
			void until('a sandbox is ready', async () => (await spareIn(dockerd(), directory)).length > 0, 60_000).finally(() =>
				runtime.run(command, outcome => {
					if (infrasIn(directory).get(uid)?.wasWarm === true) taken++;
					done(outcome);
				}),
			);
		},
	});
	return {...world, runtime: () => waiting(world.runtime())};
}

runtimeContract(test, 'docker, warm', warmWorld, title => title !== byEngine && title !== atOnce);

lostSandboxContract(test, 'docker, warm', warmWorld);

test.after('they were used', t => void t.true(taken > 20, `${taken} were taken`));
