import test from 'ava';
import {dockerWorld} from '../agent/docker-world.js';
import {runtimeContract} from '../agent/runtime-contract.js';
import {sharedDockerd} from './_dockerd.js';

const dockerd = sharedDockerd(test);

runtimeContract(test, 'docker', teardown => dockerWorld(dockerd(), teardown));
