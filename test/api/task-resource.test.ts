import test from 'ava';
import {limits} from '../../api/limits.js';
import {parseTaskResource, type TaskResource} from '../../api/task-resource.js';

const fn = (name: string, more: Partial<Extract<TaskResource, {type: 'function'}>> = {}): TaskResource => ({
	type: 'function',
	namespace: undefined,
	name,
	waitsForToken: false,
	...more,
});

test('what a Task calls is read by its form', t => {
	for (const [text, value] of [
		['charge', fn('charge')],
		['shop/charge', fn('charge', {namespace: 'shop'})],
		['function:charge', fn('charge')],
		['function:shop/charge', fn('charge', {namespace: 'shop'})],
		['ask.waitForTaskToken', fn('ask', {waitsForToken: true})],
		['function:shop/ask.waitForTaskToken', fn('ask', {namespace: 'shop', waitsForToken: true})],
		['charge.v2', fn('charge.v2')],
		['https://api.example.com', {type: 'http', url: 'https://api.example.com/'}],
		['http://API.example.com:8080/a?b=c', {type: 'http', url: 'http://api.example.com:8080/a?b=c'}],
		['workflow:refund', {type: 'workflow', name: 'refund'}],
		['job:', {type: 'job'}],
		['activity:approve', {type: 'activity', name: 'approve'}],
	] as const)
		t.deepEqual(parseTaskResource(text), {ok: true, value}, text);
});

test('what cannot be called is refused with what to write instead', t => {
	for (const [text, words] of [
		['', /^must be a function \(NAME or NAMESPACE\/NAME\), https:.*got ""$/],
		['Charge', /got "Charge"$/],
		['a/b/c', /^must be a function/],
		['/a', /^must be a function/],
		['function:', /^must be a function/],
		['.waitForTaskToken', /^must be a function/],
		['workflw:refund', /; did you mean "workflow"\?$/],
		['ftp://example.com', /got "ftp:\/\/example\.com"$/],
		['https:', /^must be a URL such as https:\/\/api\.example\.com\/orders/],
		['https:example.com', /^must be a URL/],
		['https:///example.com', /^must be a URL/],
		['https://a b/', /^must be a URL/],
		['https://ann:secret@example.com/', /^must be a URL without a user and a password: (?!.*secret)/],
		['https://example.com/#a', /^must be a URL without "#"/],
		['workflow:', /^must be workflow:NAME/],
		['workflow:shop/refund', /^must be workflow:NAME.*of the namespace of the run; got/],
		['workflow:refund.waitForTaskToken', /only functions are called with "\.waitForTaskToken"/],
		['activity:approve.waitForTaskToken', /it waits for an answer anyway/],
		['job:build', /^must be "job:" alone.*\{"spec": …\} of a Job; got "job:build"$/],
		['slurmjob:build', /^must be "slurmjob:" alone.*\{"spec": …\} of a SlurmJob; got "slurmjob:build"$/],
		['arn:aws:lambda:eu-west-1:1:function:charge', /called by its name, such as "charge", got/],
		['arn:aws:lambda:eu-west-1:1:function:Charge', /called by its name, got/],
		['arn:aws:states:::lambda:invoke', /a function is called by its name/],
		['arn:aws:states:eu-west-1:1:activity:approve', /an activity is activity:NAME, such as "activity:approve"/],
		['arn:aws:states:::states:startExecution.sync', /workflow:NAME, and its end is waited for/],
		['arn:aws:states:::batch:submitJob.sync', /is job:, got/],
		['arn:aws:states:::http:invoke', /a URL stands there itself/],
		['arn:aws:states:::sqs:sendMessage', /services of AWS are not called: a function can call them/],
		['x'.repeat(limits.workflowResourceCharacters + 1), /^must have at most 2048 characters, got 2049$/],
	] as const) {
		const read = parseTaskResource(text);
		if (read.ok) t.fail(text);
		else t.regex(read.message, words, text.slice(0, 80));
	}
});
