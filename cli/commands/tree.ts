// `troupe tree`: the actors of every system of the cluster, as they are now.

import type {Invocation} from '../command.js';
import {run as runActor} from './actor.js';

export const run = (invocation: Invocation): Promise<number> => runActor({...invocation, inputs: ['tree', ...invocation.inputs]});
