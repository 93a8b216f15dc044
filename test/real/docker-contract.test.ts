import test from 'ava';
import {dockerWorld} from '../agent/docker-world.js';
import {lostSandboxContract} from '../agent/lost-sandbox-contract.js';
import {runtimeContract} from '../agent/runtime-contract.js';
import {sharedDockerd} from './_dockerd.js';

const dockerd = sharedDockerd(test);

/** The Engine gives out addresses, and a freed one at once. */
const byEngine = 'the address of a removed sandbox is not given to the next one';

runtimeContract(
	test,
	'docker',
	teardown => dockerWorld(dockerd(), teardown),
	title => title !== byEngine,
);

lostSandboxContract(test, 'docker', teardown => dockerWorld(dockerd(), teardown));
