// A workflow of twenty states with all that a workflow has: Choice, Parallel, Map, Retry, Catch, Wait, and a human step.

import type {CallTask} from '../../../actors/control/workflows/run-message.js';
import {membersOf} from '../../../api/rules/report.js';
import {gives, throws, type Answering} from './_run-cluster.js';

const task = (Resource: string, more: object = {}): object => ({Type: 'Task', Resource, ...more});

export const twenty = {
	StartAt: 'Prepare',
	States: {
		Prepare: {Type: 'Pass', Parameters: {'order.$': '$.order', 'items.$': '$.items', total: 0}, Next: 'Check'},
		Check: task('check', {ResultPath: '$.checked', Next: 'IsGood'}),
		IsGood: {Type: 'Choice', Choices: [{Variable: '$.checked.good', BooleanEquals: true, Next: 'Price'}], Default: 'Refuse'},
		Price: {
			Type: 'Map',
			ItemsPath: '$.items',
			MaxConcurrency: 2,
			ItemProcessor: {
				StartAt: 'PriceOne',
				States: {PriceOne: task('price', {Next: 'Rounded'}), Rounded: {Type: 'Pass', End: true}},
			},
			ResultPath: '$.prices',
			Next: 'Both',
		},
		Both: {
			Type: 'Parallel',
			Branches: [
				{
					StartAt: 'Reserve',
					States: {
						Reserve: task('reserve', {Retry: [{ErrorEquals: ['Busy'], IntervalSeconds: 5, MaxAttempts: 3}], Next: 'Packed'}),
						Packed: {Type: 'Pass', Result: 'packed', End: true},
					},
				},
				{
					StartAt: 'Charge',
					States: {
						Charge: task('charge', {Catch: [{ErrorEquals: ['Declined'], ResultPath: '$.declined', Next: 'Credit'}], Next: 'Charged'}),
						Credit: task('credit', {Next: 'Charged'}),
						Charged: {Type: 'Pass', End: true},
					},
				},
			],
			ResultPath: '$.both',
			Next: 'Pause',
		},
		Pause: {Type: 'Wait', Seconds: 60, Next: 'Ask'},
		Ask: task('approve.waitForTaskToken', {Parameters: {'token.$': '$$.Task.Token'}, ResultPath: '$.approval', Next: 'IsApproved'}),
		IsApproved: {Type: 'Choice', Choices: [{Variable: '$.approval.yes', BooleanEquals: true, Next: 'Ship'}], Default: 'Refuse'},
		Ship: task('ship', {
			TimeoutSeconds: 30,
			Retry: [{ErrorEquals: ['States.Timeout'], MaxAttempts: 2}],
			ResultPath: '$.shipped',
			Next: 'Sum',
		}),
		Sum: {
			Type: 'Pass',
			Parameters: {'order.$': '$.order', 'prices.$': '$.prices', 'shipped.$': '$.shipped', 'both.$': '$.both'},
			Next: 'Done',
		},
		Refuse: {Type: 'Fail', Error: 'Refused', Cause: 'it may not be'},
		Done: {Type: 'Succeed'},
	},
};

export const input = {order: 7, items: [1, 2, 3, 4, 5]};

export const output = {
	order: 7,
	prices: [10, 20, 30, 40, 50],
	shipped: {truck: 3},
	both: ['packed', {credit: 1}],
};

/** A call that is tried again succeeds in the end. */
export const answersOfTwenty: Answering = (call, state) => ({afterMs: 100, outcome: answerOf(call, state)});

function answerOf({key, input: given}: CallTask, state: string): ReturnType<Answering>['outcome'] {
	const attempt = Number(key.slice(key.lastIndexOf('.') + 1));
	switch (state) {
		case 'Check':
			return gives({good: true});
		case 'PriceOne':
			return gives(10 * Number(given));
		case 'Reserve':
			return attempt < 3 ? throws('Busy', 'no room') : gives(null);
		case 'Charge':
			return throws('Declined', 'no money');
		case 'Credit':
			return gives({credit: 1});
		case 'Ask':
			return {type: 'waiting'};
		case 'Ship':
			return attempt < 2 ? 'never' : gives({truck: 3});
		default:
			throw new Error(`no such task: ${state} ${JSON.stringify(membersOf(given))}`);
	}
}

/** The attempts that such a run needs, whatever happens to it: each of them begins once. */
export const attemptsOfTwenty = [
	'Ask.1',
	'Charge.1',
	'Check.1',
	'Credit.1',
	...Array.from({length: 5}, () => 'PriceOne.1'),
	'Reserve.1',
	'Reserve.2',
	'Reserve.3',
	'Ship.1',
	'Ship.2',
];

/** `Charge.1` of its key. */
export const attemptOf = (key: string): string => /\d+-([^/]*)$/.exec(key)?.[1] ?? key;
