// Tasks of functions with the runner of Node.js.

import path from 'node:path';
import test from 'ava';
import {startRunner} from '../../agent/functions/_runner.js';
import {runnerTasks} from './runner-tasks.js';

const program = path.resolve(import.meta.dirname, '../../../agent/functions/runners/node-runner.js');

const code = `
class CardDeclined extends Error {}
export default (params, {id, headers, answer, signal}) => {
	switch (params?.how) {
		case 'declined': throw new CardDeclined('no money');
		case 'usual': return params.no.such;
		case 'text': return answer('grüße');
		case 'nothing': return answer(undefined, {status: 204});
		case 'told': return {key: headers['x-troupe-task-key'], id};
		case 'dies': return process.kill(process.pid, 'SIGKILL');
		case 'waits': return new Promise(() => {
			const timer = setInterval(() => undefined, 1000);
			signal.onabort = () => clearInterval(timer);
			console.log('begun');
		});
		default: return params;
	}
};
`;

runnerTasks(test, {name: 'nodejs', start: (t, limits) => startRunner(t, [process.execPath, program], {'func.mjs': code}, limits)});
