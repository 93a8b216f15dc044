// Commands for functions and workflows.

import type {CommandSpec} from '../command.js';
import {allNamespacesFlag, homeFlags, namespacedFlags} from '../command-line/flags.js';

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
		summary: 'call a function of the cluster, and show its answer; or start a run of a workflow',
		usage: ["[NAMESPACE/]NAME ['JSON' | -] [-d 'JSON'] [--async]", "workflow/NAME ['JSON' | -] [-d 'JSON']", '--result ID'],
		examples: [
			'troupe execute default/hello \'{"name": "Ada"}\'',
			'troupe execute hello -d \'{"name": "Ada"}\'',
			'troupe execute hello --async \'{"name": "Ada"}\'',
			'troupe execute workflow/order -d \'{"id": 7}\'',
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
		summary: 'start, see, answer and end runs of workflows; try a definition in virtual time without a cluster',
		usage: [
			"test FILE [--mock MOCKS] [--input 'JSON' | @FILE | -] [-o json]",
			"start WORKFLOW [--input 'JSON' | @FILE | -] [--name NAME] [--wait [--timeout TIME]]",
			'list [WORKFLOW] [-A] [-o wide|json|yaml|name]',
			'describe run/NAME [-w | -o dot|svg]',
			'history run/NAME [-o json]',
			"approve run/NAME [--state STATE | --key KEY] [-o 'JSON']",
			'reject run/NAME [--state STATE | --key KEY] [--error NAME] [--cause TEXT]',
			'pause|resume|cancel run/NAME',
			'retry run/NAME [--from STATE] [--wait]',
		],
		examples: [
			'troupe workflow start order --wait',
			'troupe workflow start order --input \'{"id": 7}\'',
			'troupe workflow describe run/order-x7k2p -w',
			'troupe workflow approve run/order-x7k2p --state ReviewOrder --output \'{"accepted": true}\'',
			'troupe workflow retry run/order-x7k2p --from Charge',
			'troupe workflow test order.asl.json --mock order.mocks.yaml',
		],
		flags: {
			...namespacedFlags,
			...allNamespacesFlag,
			mock: {
				type: 'string',
				value: 'MOCKS',
				about: 'test: cases, with what the tasks answer in each; without it the definition is only checked',
			},
			input: {
				type: 'string',
				value: 'JSON',
				about: 'start: what the run begins with ({}); test: what cases begin with that say nothing else; @FILE of a file, - for stdin',
			},
			name: {type: 'string', value: 'NAME', about: 'start: of the run; without it one that begins with the name of the workflow'},
			wait: {type: 'boolean', about: 'start, retry: wait for the end, and print the output; exit code 1 where it has failed'},
			timeout: {type: 'string', value: 'TIME', about: 'with --wait: how long, such as 30s or 2m (as long as it takes)'},
			state: {type: 'string', value: 'STATE', about: 'approve, reject: the state that waits, where several do'},
			key: {type: 'string', value: 'KEY', about: 'approve, reject: the same by the key of its attempt'},
			error: {type: 'string', value: 'NAME', about: 'reject: the error with which the task fails (Rejected)'},
			cause: {type: 'string', value: 'TEXT', about: 'reject: why'},
			from: {type: 'string', value: 'STATE', about: 'retry: the state with which the new run begins (where it has failed)'},
			watch: {type: 'boolean', short: 'w', about: 'describe: follow the run to its end'},
			output: {
				type: 'string',
				short: 'o',
				value: 'WHAT',
				about:
					'test: json or yaml; list: wide, json, yaml or name; history: json; describe: dot or svg; approve: the output of the task, as JSON',
			},
		},
		load: () => import('../commands/workflow.js'),
	},
];
