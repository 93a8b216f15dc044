import test from 'ava';
import {revisionFor} from '../../api/function-traffic.js';
import {checkTraffic} from '../../api/rules/function-traffic.js';
import type {Json} from '../../api/object.js';
import type {Found} from '../../api/rules/report.js';

test('without traffic the newest version takes all', t => {
	t.is(revisionFor(undefined, {}, 0.5), undefined);
});

test('versions share by weight', t => {
	const traffic = [{revision: 3, weight: 90}, {weight: 10}, {revision: 9, weight: 0}];
	const taken = Array.from({length: 100}, (_, n) => revisionFor(traffic, {}, n / 100));
	t.is(taken.filter(revision => revision === 3).length, 90);
	t.is(taken.filter(revision => revision === undefined).length, 10);
});

test('the first whose header is there as it says takes the call, whatever the chance', t => {
	const traffic = [
		{revision: 1},
		{revision: 2, match: {header: {name: 'X-Canary', exact: 'yes'}}},
		{revision: 3, match: {header: {name: 'x-canary', prefix: 'y'}}},
		{revision: 4, match: {header: {name: 'x-canary'}}},
	];
	for (const [value, wanted] of [
		['yes', 2],
		['yea', 3],
		['no', 4],
		['', 4],
		[undefined, 1],
	] as const)
		t.is(revisionFor(traffic, value === undefined ? {} : {'x-canary': value}, 0.99), wanted, String(value));
});

test('shares that cannot be are refused', t => {
	const problems = (value: Json): string => {
		const found: Found = [];
		checkTraffic(found, 'spec.traffic', value);
		return found.map(({path, message}) => `${path}: ${message}`).join('\n');
	};
	t.is(problems([{revision: 1, weight: 1}, {match: {header: {name: 'x'}}}]), '');
	t.regex(problems([{revision: 1, weight: 0}]), /need a weight above 0/);
	t.regex(problems([{match: {header: {name: 'x'}}}]), /need a weight above 0/);
	t.regex(problems([{}, {match: {header: {name: 'a b'}}}]), /\[1\]\.match\.header\.name: must be the name of a header/);
	t.regex(problems([{}, {match: {header: {name: 'a', exact: '1', prefix: '2'}}}]), /must have one of exact and prefix/);
	t.regex(problems(Array.from({length: 17}, () => ({}))), /must be at most 16, got 17/);
});
