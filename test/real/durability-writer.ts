// A program to be killed: it writes through the commit pipeline on LevelDB as fast as it can and prints a line for each
// acknowledgement and each error. Arguments: data directory, number of writers, number of its life.

import process from 'node:process';
import {openLevelStore} from '../../system/store/level-store.js';
import type {Pipeline} from '../../system/commit/pipeline.js';
import {ackLine, errorLine, firstTurn, isRemoval, writtenKey, writtenObject} from './durability-ledger.js';
import {startOn} from './durability-start.js';

const [directory = '', writers = '0', life = '0'] = process.argv.slice(2);

const {pipeline, index} = await startOn(await openLevelStore(directory));
// One write in flight each; what fails is tried again.
for (let number = 0; number < Number(writers); number++) write(pipeline, number, firstTurn(Number(life)));

function write(pipeline: Pipeline, number: number, turn: number): void {
	const key = writtenKey(number);
	const removes = isRemoval(key, turn) && index.get(key) !== undefined;
	pipeline.submit({
		key,
		object: removes ? undefined : writtenObject(number, turn),
		done(outcome) {
			if (outcome.ok) process.stdout.write(ackLine(key, outcome.change.version, turn));
			else process.stdout.write(errorLine(outcome.error.code, outcome.error.message));
			write(pipeline, number, outcome.ok ? turn + 1 : turn);
		},
	});
}
