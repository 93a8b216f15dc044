// How an actor is supervised, as people read it. Pure.

import {counted} from '../../api/counted.js';
import {ageOf} from '../../api/duration.js';
import type {SuperviseLook} from '../../api/inspect.js';
import {inOneLine} from '../screen/table.js';
import {fitted} from '../screen/text-width.js';
import {placeText, type LookView} from './look-table.js';
import {withoutActor} from './message-text.js';

export function drawSupervise(look: SuperviseLook, view: LookView): string {
	const {restart, strategy, pastIntensity, intensity, periodMs, left, restarts, lastCrash, parked, supervisor, shutdown} = look;
	const {red, yellow} = view.colours;
	const lines: readonly (readonly [string, string])[] = [
		['supervisor', supervisor === undefined ? '- (it is the root)' : placeText(supervisor)],
		['restart', `${restart}: ${restartText[restart]}`],
		['strategy', `${strategy}: when a child of its fails, ${strategyText[strategy]}`],
		['intensity', `${counted(intensity, 'restart')} within ${ageOf(periodMs)}, ${left === 0 ? red('none left') : `${left} left`}`],
		['past that', `${pastIntensity}: ${pastText[pastIntensity]}`],
		['restarts', restarts > 0 ? yellow(String(restarts)) : '0'],
		['last crash', lastCrash === undefined ? '-' : red(`${ageOf(lastCrash.agoMs)} ago: ${inOneLine(withoutActor(lastCrash.message))}`)],
		...(parked === undefined
			? []
			: [['PARKED', red(`${counted(parked.retries, 'try', 'tries')}: ${inOneLine(withoutActor(parked.error))}`)] as const]),
		['shutdown', typeof shutdown === 'number' ? `within ${shutdown} ms, then it is killed` : shutdown],
	];
	return lines.map(([name, value]) => `${fitted(`${name.padEnd(12)}${value}`, view)}\n`).join('');
}

const restartText: {readonly [How in SuperviseLook['restart']]: string} = {
	permanent: 'it is always started again',
	transient: 'it is started again after a crash',
	temporary: 'it is never started again',
};
const strategyText: {readonly [How in SuperviseLook['strategy']]: string} = {
	oneForOne: 'that one is started again',
	oneForAll: 'all are started again',
	restForOne: 'it and those started after it are started again',
};
const pastText: {readonly [How in SuperviseLook['pastIntensity']]: string} = {
	escalate: 'its supervisor fails with it',
	backOff: 'it rests for longer and longer',
	park: 'it rests in part, and is tried again',
};
