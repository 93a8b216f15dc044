// What a Task of a workflow calls: the text of its `Resource`, read.

import {httpPlaceOf} from './http-hosts.js';
import {limits} from './limits.js';
import {isDnsLabel, isDnsSubdomain} from './rules/names.js';
import {shown} from './shown.js';
import {didYouMean} from './suggest.js';

export type TaskResource =
	| {
			readonly type: 'function';
			/** Undefined: that of the run. */
			readonly namespace: string | undefined;
			readonly name: string;
			/** It is called with a token, and somebody answers with that. */
			readonly waitsForToken: boolean;
	  }
	/** `url` as `URL` writes it. */
	| {readonly type: 'http'; readonly url: string}
	/** A run of another workflow of the namespace. */
	| {readonly type: 'workflow'; readonly name: string}
	/** What it is is in the input of the task. */
	| {readonly type: 'job'}
	/** The same, on an HPC system. */
	| {readonly type: 'slurmjob'}
	/** Somebody answers: nothing is called. */
	| {readonly type: 'activity'; readonly name: string};

export type ReadResource = {readonly ok: true; readonly value: TaskResource} | {readonly ok: false; readonly message: string};

const tokenSuffix = '.waitForTaskToken';

const forms = 'a function (NAME or NAMESPACE/NAME), https://HOST/PATH, workflow:NAME, job:, slurmjob: or activity:NAME';

const read = (value: TaskResource): ReadResource => ({ok: true, value});
const wrong = (message: string): ReadResource => ({ok: false, message});

/** What it says; or what is wrong with it and what to write instead, as it stands behind the path of a field. */
export function parseTaskResource(text: string): ReadResource {
	if (text.length > limits.workflowResourceCharacters)
		return wrong(`must have at most ${limits.workflowResourceCharacters} characters, got ${text.length}`);
	const colon = text.indexOf(':');
	if (colon < 0) return functionOf(text, text);
	const [scheme, rest] = [text.slice(0, colon), text.slice(colon + 1)];
	switch (scheme) {
		case 'function':
			return functionOf(rest, text);
		case 'http':
		case 'https':
			return httpOf(text);
		case 'workflow':
			return named(rest, text, name => ({type: 'workflow', name}));
		case 'activity':
			return named(rest, text, name => ({type: 'activity', name}));
		case 'job':
			return rest === ''
				? read({type: 'job'})
				: wrong(`must be "job:" alone, since the input of the task says what runs: {"spec": …} of a Job; got ${shown(text)}`);
		case 'slurmjob':
			return rest === ''
				? read({type: 'slurmjob'})
				: wrong(`must be "slurmjob:" alone, since the input of the task says what runs: {"spec": …} of a SlurmJob; got ${shown(text)}`);
		case 'arn':
			return wrong(`must be ${forms}; ${insteadOfArn(text)}, got ${shown(text)}`);
		default:
			return wrong(`must be ${forms}, got ${shown(text)}${didYouMean(scheme, schemes)}`);
	}
}

const schemes = ['function', 'http', 'https', 'workflow', 'job', 'slurmjob', 'activity'];

function functionOf(given: string, text: string): ReadResource {
	const waitsForToken = given.endsWith(tokenSuffix);
	const place = waitsForToken ? given.slice(0, -tokenSuffix.length) : given;
	const slash = place.indexOf('/');
	const name = place.slice(slash + 1);
	const namespace = slash < 0 ? undefined : place.slice(0, slash);
	if (!isDnsSubdomain(name) || (namespace !== undefined && !isDnsLabel(namespace))) return wrong(`must be ${forms}, got ${shown(text)}`);
	return read({type: 'function', namespace, name, waitsForToken});
}

function named(name: string, text: string, made: (name: string) => TaskResource): ReadResource {
	if (isDnsSubdomain(name)) return read(made(name));
	const scheme = text.slice(0, text.indexOf(':'));
	if (name.endsWith(tokenSuffix))
		return wrong(
			scheme === 'activity'
				? `must be activity:NAME without "${tokenSuffix}", since it waits for an answer anyway; got ${shown(text)}`
				: `must be ${scheme}:NAME: only functions are called with "${tokenSuffix}"; got ${shown(text)}`,
		);
	const hint = name.includes('/') ? ': it is of the namespace of the run' : '';
	return wrong(`must be ${scheme}:NAME, with a name of lower-case letters, digits, "-" and "."${hint}; got ${shown(text)}`);
}

function httpOf(text: string): ReadResource {
	if (httpPlaceOf(text) === undefined || !/^https?:\/\/[^/]/.test(text))
		return wrong(`must be a URL such as https://api.example.com/orders, got ${shown(text)}`);
	const url = new URL(text);
	// Whoever reads the workflow would read them, too.
	if (url.username !== '' || url.password !== '')
		return wrong('must be a URL without a user and a password: everyone who may read the workflow sees them');
	if (url.hash !== '') return wrong(`must be a URL without "#": what is behind it is not sent, got ${shown(text)}`);
	return read({type: 'http', url: url.href});
}

/** By a part of the ARN, the first that fits. */
const arns: readonly (readonly [part: RegExp, instead: (name: string) => string])[] = [
	[/:lambda:[^:]*:[^:]*:function:([^:]+)/, name => `a function of Lambda is one of the cluster here, called by its name${nameHint(name)}`],
	[/:states:::lambda:/, () => 'a function is called by its name'],
	[/:states:[^:]*:[^:]*:activity:([^:]+)/, name => `an activity is activity:NAME${nameHint(name, 'activity:')}`],
	[/:states:::states:/, () => 'a run of another workflow is workflow:NAME, and its end is waited for'],
	[/:states:::(?:batch|ecs|eks|glue)/, () => 'what runs to its end in a container is job:'],
	[/:states:::http:/, () => 'a URL stands there itself'],
];

function insteadOfArn(text: string): string {
	for (const [part, instead] of arns) {
		const found = part.exec(text);
		if (found !== null) return instead(found[1] ?? '');
	}
	return 'services of AWS are not called: a function can call them';
}

const nameHint = (name: string, before = ''): string => (isDnsSubdomain(name) ? `, such as ${JSON.stringify(before + name)}` : '');
