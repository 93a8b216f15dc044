// A program that tries what it is told and says what became of it: in the network of a pod, which its agent has it enter, or of the host.
// Its only argument is a list of tries; it writes a list of answers in the same order, and ends.

import {systemClock} from '../../system/time/clock.js';
import {carryOut, type PlacedTry} from './tries.js';

const tries = JSON.parse(process.argv[2] ?? '[]') as readonly PlacedTry[];
const tried = await Promise.all(tries.map(each => carryOut(each, systemClock)));
process.stdout.write(JSON.stringify(tried), () => process.exit(0));
