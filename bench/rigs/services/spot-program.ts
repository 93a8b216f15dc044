// A spot as a program of its own, to be run in a network namespace: takes a call a line (`[id, method, ...arguments]`), answers with
// `[id, value]` or `[id, null, message, code]`. It ends with its input.

import {createInterface} from 'node:readline';
import {createSpot, type Spot} from './spot.js';

const spot = createSpot();
const methods = spot as unknown as Readonly<Record<string, (...words: readonly unknown[]) => Promise<unknown>>>;

createInterface({input: process.stdin})
	.on('line', line => {
		const [id, method, ...words] = JSON.parse(line) as readonly [number, keyof Spot, ...unknown[]];
		const call = methods[method];
		const done = (answer: readonly unknown[]): void => void process.stdout.write(`${JSON.stringify(answer)}\n`);
		call?.(...words).then(
			value => done([id, value]),
			(error: NodeJS.ErrnoException) => done([id, null, error.message, error.code ?? '']),
		);
	})
	.on('close', () => process.exit(0));
process.stdout.write('[0,null]\n');
