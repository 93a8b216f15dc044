// Commands for functions and workflows.

import type {CommandSpec} from '../command.js';
import {documentFlag, homeFlags, namespacedFlags} from '../command-line/flags.js';

export const functionsCommands: readonly CommandSpec[] = [
	{
		name: 'function',
		aliases: ['fn'],
		summary: 'make the folder of a function, and call it on this machine without a cluster',
		usage: ['new NAME [--lang python|nodejs]', "run FOLDER ['JSON' | -] [--timeout TIME] [--env NAME=VALUE] [--install]"],
		examples: [
			'troupe function new hello',
			'troupe function new hello --lang nodejs',
			'troupe function run hello \'{"name": "Ada"}\'',
			'troupe function run hello - < params.json',
		],
		flags: {
			...homeFlags,
			lang: {
				type: 'string',
				value: 'LANGUAGE',
				choices: ['python', 'nodejs'],
				about: 'new: what it is written in (python); run: where a folder has files of both',
			},
			timeout: {type: 'string', value: 'TIME', about: 'run: what the call may take, such as 5s or 2m (30s)'},
			install: {type: 'boolean', about: 'run: what requirements.txt or package.json names is installed first, into a copy of the folder'},
			env: {type: 'string', multiple: true, value: 'NAME=VALUE', about: 'run: a variable of its environment; may be given again'},
		},
		ownSignals: true,
		load: () => import('../commands/function.js'),
	},
	{
		name: 'execute',
		aliases: ['trigger'],
		summary: 'call a function of the cluster, and show its answer',
		usage: ["[NAMESPACE/]NAME ['JSON' | -] [-d 'JSON'] [--async]", '--result ID'],
		examples: [
			'troupe execute default/hello \'{"name": "Ada"}\'',
			'troupe execute hello -d \'{"name": "Ada"}\'',
			'troupe execute hello --async \'{"name": "Ada"}\'',
		],
		flags: {
			...namespacedFlags,
			data: {type: 'string', short: 'd', value: 'JSON', about: 'what it is called with, in place of the second word'},
			async: {type: 'boolean', about: 'do not wait for the answer: print the id of the call, which is kept until it was made'},
			result: {type: 'string', value: 'ID', about: 'wait for the answer of a call that was made with --async, and show it'},
		},
		load: () => import('../commands/execute.js'),
	},
	{
		name: 'workflow',
		aliases: ['wf'],
		summary: 'check the definition of a workflow, and try it in virtual time without a cluster',
		usage: ["test FILE [--mock MOCKS] [--input 'JSON' | -] [-o json]"],
		examples: [
			'troupe workflow test order.asl.json',
			'troupe workflow test order.asl.json --mock order.mocks.yaml',
			'troupe workflow test order.yaml --mock order.mocks.yaml --input \'{"order": 7}\' -o json',
		],
		flags: {
			...homeFlags,
			mock: {
				type: 'string',
				value: 'MOCKS',
				about: 'test: cases, with what the tasks answer in each; without it the definition is only checked',
			},
			input: {type: 'string', value: 'JSON', about: 'test: what cases begin with that say nothing else; - for stdin'},
			...documentFlag,
		},
		load: () => import('../commands/workflow.js'),
	},
];
