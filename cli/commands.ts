// The one list of commands: names, help, flags, and where the work is done. Each command's own file is loaded when it runs.

import type {CommandSpec} from './command.js';
import {homeFlags} from './command-line/flags.js';
import {functionsCommands} from './command-specs/functions.js';
import {nodesCommands} from './command-specs/nodes.js';
import {objectsCommands} from './command-specs/objects.js';
import {podsCommands} from './command-specs/pods.js';
import {servingCommands} from './command-specs/serving.js';

export const commands: readonly CommandSpec[] = [
	...servingCommands,
	...objectsCommands,
	...podsCommands,
	...functionsCommands,
	...nodesCommands,
];

/** What the scripts of `troupe completion` run; no person does, so no list has it. */
const completeCommand: CommandSpec = {
	name: '__complete',
	summary: 'answer a shell that completes words',
	usage: ['-- WORD…'],
	examples: [],
	flags: homeFlags,
	load: async () => ({run: (await import('./completion/complete.js')).completing(commands)}),
};

export const findCommand = (name: string): CommandSpec | undefined =>
	[...commands, completeCommand].find(command => command.name === name || command.aliases?.includes(name) === true);
