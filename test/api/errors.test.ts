import test from 'ava';
import {AppError, errorTable, type ErrorCode} from '../../api/errors.js';
import type {Json} from '../../api/object.js';

const codes = Object.keys(errorTable) as readonly ErrorCode[];

test('details that another process made up have words, and throw nothing', t => {
	const values: readonly Json[] = [null, 5, 'x', [], {}, {toString: 1}, [null], [5], [{}], [{path: {toString: 1}, message: 'm'}]];
	const members = [
		'problems',
		'message',
		'address',
		'resource',
		'name',
		'leader',
		'storeAnswers',
		'deadlineMs',
		'container',
		'image',
		'path',
	];
	for (const code of codes)
		for (const member of members)
			for (const value of values)
				t.notThrows(() => AppError.of({code, message: 'm', details: {[member]: value}}), `${code} ${member} ${JSON.stringify(value)}`);
});

test('of a list of problems those that are some are told', t => {
	const problems = [null, {path: 'spec', message: 'is missing'}, 7];
	t.is(AppError.of({code: 'ERR_INVALID', message: '', details: {problems}}).message, 'spec: is missing');
});
