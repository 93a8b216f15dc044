// Rules of Retry and Catch.

import {limits} from '../../limits.js';
import {isObject, type Json, type JsonObject} from '../../object.js';
import {joinPath} from '../../path.js';
import {refuse} from '../../rules/report.js';
import {shown} from '../../shown.js';
import {didYouMean, suggest} from '../../suggest.js';
import {reservedErrors} from '../errors.js';
import {checkMembers, checkNumber, checkReferencePath, itemsIn, type Found} from './report.js';

const retrierMembers = ['Comment', 'ErrorEquals', 'IntervalSeconds', 'MaxAttempts', 'BackoffRate', 'MaxDelaySeconds', 'JitterStrategy'];
const catcherMembers = ['Comment', 'ErrorEquals', 'ResultPath', 'Next'];

/** What a delay may grow by, and how often it may be tried again. */
const backoffRate = {least: 1, most: 1_000, isWhole: false};
const attempts = {least: 0, most: 99_999_999};

export function checkRetry(found: Found, path: string, value: Json | undefined): void {
	checkEach(found, path, value, (at, retrier) => {
		checkMembers(found, at, retrier, retrierMembers, 'a retrier');
		checkNumber(found, `${at}.IntervalSeconds`, retrier['IntervalSeconds'], {least: 1, most: limits.statesWaitSeconds});
		checkNumber(found, `${at}.MaxAttempts`, retrier['MaxAttempts'], attempts);
		checkNumber(found, `${at}.BackoffRate`, retrier['BackoffRate'], backoffRate);
		checkNumber(found, `${at}.MaxDelaySeconds`, retrier['MaxDelaySeconds'], {least: 1, most: limits.statesWaitSeconds});
		const {IntervalSeconds = 1, MaxDelaySeconds, JitterStrategy} = retrier;
		if (typeof MaxDelaySeconds === 'number' && typeof IntervalSeconds === 'number' && MaxDelaySeconds <= IntervalSeconds)
			refuse(found, `${at}.MaxDelaySeconds`, `must be more than IntervalSeconds, which is ${IntervalSeconds}, got ${MaxDelaySeconds}`);
		if (JitterStrategy !== undefined && JitterStrategy !== 'FULL' && JitterStrategy !== 'NONE')
			refuse(found, `${at}.JitterStrategy`, `must be FULL or NONE, got ${shown(JitterStrategy)}`);
	});
}

/** Where each leads is looked at with all other transitions. */
export function checkCatch(found: Found, path: string, value: Json | undefined): void {
	checkEach(found, path, value, (at, catcher) => {
		checkMembers(found, at, catcher, catcherMembers, 'a catcher');
		checkReferencePath(found, `${at}.ResultPath`, catcher['ResultPath'], true);
		if (typeof catcher['Next'] !== 'string')
			refuse(found, `${at}.Next`, `must be the name of a state, got ${shown(catcher['Next'])}`, 'FieldValueRequired');
	});
}

function checkEach(found: Found, path: string, value: Json | undefined, check: (at: string, each: JsonObject) => void): void {
	if (value === undefined) return;
	const items = itemsIn(found, path, value);
	items.forEach((item, index) => {
		const at = joinPath(path, index);
		if (!isObject(item)) return refuse(found, at, `must be an object, got ${shown(item)}`);
		check(at, item);
		checkErrors(found, `${at}.ErrorEquals`, item['ErrorEquals'], index === items.length - 1);
	});
}

function checkErrors(found: Found, path: string, value: Json | undefined, isLast: boolean): void {
	const names = itemsIn(found, path, value);
	names.forEach((name, index) => checkErrorName(found, joinPath(path, index), name));
	if (!names.includes('States.ALL')) return;
	if (names.length > 1) refuse(found, path, '"States.ALL" must stand alone: it takes all that the others name');
	if (!isLast) refuse(found, path, '"States.ALL" must be in the last one: what follows it is never reached');
}

function checkErrorName(found: Found, path: string, name: Json): void {
	if (typeof name !== 'string') return refuse(found, path, `must be the name of an error, got ${shown(name)}`);
	if (name === 'States.Runtime') return refuse(found, path, '"States.Runtime" cannot be taken: it always fails the run; leave it out');
	const known: readonly string[] = reservedErrors;
	if (known.includes(name)) return;
	if (name.startsWith('States.'))
		return refuse(
			found,
			path,
			`${shown(name)} is no error of the language, and names that begin with "States." are its own${didYouMean(name, known)}`,
		);
	const meant = name.toLowerCase().startsWith('states') ? suggest(name, known) : undefined;
	if (meant !== undefined) refuse(found, path, `${shown(name)} is no error of the language; did you mean ${shown(meant)}?`);
}
