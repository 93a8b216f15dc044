// `troupe fault WORD PLACE`: the inspector's verb as a command of its own.

import type {Invocation} from '../command.js';
import {run as runActor} from './actor.js';

export const run = (invocation: Invocation): Promise<number> => runActor({...invocation, inputs: ['fault', ...invocation.inputs]});
