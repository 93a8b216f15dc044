// All mistakes that are planted. How to add one: docs/architecture.md, "Tests".

import {ofActors} from './catalogue/actors.js';
import {ofAgent} from './catalogue/agent.js';
import {ofApi} from './catalogue/api.js';
import {ofCli} from './catalogue/cli.js';
import {ofServer} from './catalogue/server.js';
import {ofSystem} from './catalogue/system.js';
import type {Mistake} from './mistake.js';

export const mistakes: readonly Mistake[] = [...ofApi, ...ofSystem, ...ofActors, ...ofAgent, ...ofServer, ...ofCli];
