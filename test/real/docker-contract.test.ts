import test from 'ava';
import {dockerWorld} from '../agent/docker-world.js';
import {runtimeContract} from '../agent/runtime-contract.js';
import {sharedDockerd} from './_dockerd.js';

const dockerd = sharedDockerd(test);

/** What the Docker runtime does not have so far. */
const missing = /session|log|action|in a container that does not run/;

runtimeContract(
	test,
	'docker',
	teardown => dockerWorld(dockerd(), teardown),
	title => !missing.test(title),
);
