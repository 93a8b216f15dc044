// An agent that keeps runners of Python waiting in a directory until it is killed: node killed-agent-program.js DIRECTORY PYTHON COUNT

import path from 'node:path';
import {noGroups} from '../../../agent/process/cgroups/container-groups.js';
import {createStock} from '../../../agent/process/attempts/stock.js';
import {hostOf} from '../../../agent/process/host/host.js';
import {createWarmRunners} from '../../../agent/process/start/warm-runners.js';
import {eventually} from '../../../bench/rigs/cluster/waiting.js';
import {systemClock} from '../../../system/time/clock.js';

const [, , directory = '', python = '', count = '1'] = process.argv;
const onWarning = (message: string): void => void process.stderr.write(`${message}\n`);
const stock = createStock(path.join(directory, '.stock'), 0, systemClock, onWarning);
const folder = path.join(directory, '.stock');
const host = hostOf({path: undefined, dropper: undefined, namespaces: undefined, nfs: null, folder, onWarning});
const pool = createWarmRunners({
	directory,
	count: Number(count),
	isRouted: false,
	host,
	groups: noGroups,
	stock,
	clock: systemClock,
	onWarning,
});
pool.want({language: 'python', program: python, memoryBytes: undefined});
await eventually('they wait', () => pool.ready() === Number(count));
process.stdout.write('ready\n');
setInterval(() => undefined, 60_000);
