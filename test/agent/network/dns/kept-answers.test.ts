// Which answers are given again as they are, for how long, and how many.

import type {Answer} from 'dns-packet';
import test from 'ava';
import {createKeptAnswers} from '../../../../agent/network/dns/kept-answers.js';
import {failed, type Resolved} from '../../../../agent/network/dns/resolved.js';
import {limits} from '../../../../api/limits.js';
import {questionOf} from './_dns-world.js';

const address = (data: string): Answer => ({type: 'A', name: 'web', data});
const ofCluster = (...answers: readonly Answer[]): Resolved => ({...failed, rcode: 'NOERROR', isAuthoritative: true, answers});

const question = questionOf('web', 'A');
const answer = Buffer.from('..answer');

test('an answer has the id of the question that it is given to, and is nobody else’s', t => {
	const kept = createKeptAnswers();
	kept.begin()(question, ofCluster(address('10.0.0.1')), answer);
	const again = Buffer.from(question);
	again.writeUInt16BE(0x4142, 0);
	const given = kept.get(again);
	t.is(given?.toString(), 'ABanswer');
	given?.fill(0);
	t.is(kept.get(again)?.toString(), 'ABanswer');
	t.is(kept.get(questionOf('web', 'SRV')), undefined);
	t.is(kept.get(questionOf('WEB', 'A')), undefined, 'the name comes back as it was written');
});

test('kept are neither answers of others, nor such whose records take turns, nor long ones', t => {
	const kept = createKeptAnswers();
	const alias: Answer = {type: 'CNAME', name: 'web', data: 'example.com'};
	const keep = kept.begin();
	keep(question, {...ofCluster(address('10.0.0.1')), isAuthoritative: false}, answer);
	keep(question, failed, answer);
	keep(question, ofCluster(address('10.0.0.1'), address('10.0.0.2')), answer);
	keep(question, ofCluster(alias), answer);
	keep(question, ofCluster(address('10.0.0.1')), Buffer.alloc(limits.dnsKeptBytes));
	t.is(kept.size(), 0);
	keep(question, ofCluster(), answer);
	t.is(kept.size(), 1);
});

test('what was looked up before a change is not kept after it', t => {
	const kept = createKeptAnswers();
	const keep = kept.begin();
	keep(question, ofCluster(), answer);
	kept.drop();
	t.is(kept.get(question), undefined);
	keep(question, ofCluster(), answer);
	t.is(kept.get(question), undefined);
});

test('of more than there is room for the oldest goes', t => {
	const kept = createKeptAnswers();
	const keep = kept.begin();
	const nth = (index: number): Buffer => questionOf(`web-${index}`, 'A');
	for (let index = 0; index <= limits.dnsKeptAnswers; index++) keep(nth(index), ofCluster(), answer);
	t.is(kept.size(), limits.dnsKeptAnswers);
	t.is(kept.get(nth(0)), undefined);
	t.truthy(kept.get(nth(1)));
	t.truthy(kept.get(nth(limits.dnsKeptAnswers)));
});
