import test from 'ava';
import {proxyWorld} from './_proxy-world.js';
import {serviceContract} from './service-contract.js';

serviceContract(test, t => Promise.resolve(proxyWorld(clean => t.teardown(clean)).rig));
