import test from 'ava';
import {processWorld} from './process-world.js';
import {runtimeContract} from './runtime-contract.js';

runtimeContract(test, 'process', processWorld);
