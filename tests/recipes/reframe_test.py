# SPDX-License-Identifier: Apache-2.0
# reframe_test.py SOURCE ASSAY: what scripts/reframe/assay_check.py makes of a verdict, with a stand-in for ReFrame, which is
# not to be had here.

import json
import os
import runpy
import subprocess
import sys
import tempfile
import types

source, assay = sys.argv[1:]


class Test:
    pass


class Namespace(dict):
    """ReFrame puts its built-in functions into the body of a test."""

    def __missing__(self, name):
        tools = {'variable': lambda kind, value: value, 'run_before': lambda stage: lambda f: f, 'sanity_function': lambda f: f}
        if name not in tools:
            raise KeyError(name)
        return tools[name]


class Meta(type):
    @classmethod
    def __prepare__(mcs, name, bases):
        return Namespace()


reframe = types.ModuleType('reframe')
reframe.simple_test = lambda test: test
reframe.RunOnlyRegressionTest = Meta('RunOnlyRegressionTest', (), {})
sanity = types.ModuleType('reframe.utility.sanity')
sanity.defer = lambda value: value
sanity.make_performance_function = lambda value, unit: (value, unit)
sanity.assert_in = lambda value, allowed, message: value in allowed or message
utility = types.ModuleType('reframe.utility')
utility.sanity = sanity
reframe.utility = utility
sys.modules.update({'reframe': reframe, 'reframe.utility': utility, 'reframe.utility.sanity': sanity})
check = runpy.run_path(os.path.join(source, 'scripts/reframe/assay_check.py'))


def judged(limits):
    """The test after its job, judged by one limit for the sample run."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'limits.json')
        with open(path, 'w', encoding='utf-8') as file:
            json.dump({'schema': 'assay.limits/1', 'name': 'one', 'description': 'for this test', 'date': '2026-11-01',
                       'sources': {'own': 'made for this test'}, 'limits': [{'kind': 'spec', 'machine': {}, 'source': 'own'} | one for one in limits]}, file)
        run = os.path.join(source, 'reports/samples/zen4-2cores-quick.json')
        done = subprocess.run([assay, 'check', run, '--limits', path, '--json'], capture_output=True, text=True, check=False)
        with open(os.path.join(folder, 'verdict.json'), 'w', encoding='utf-8') as file:
            file.write(done.stdout)
        test = check['AssayNode']()
        test.stagedir = folder
        test.command()
        passed = test.passed()
        test.metrics()
        return test, passed, json.loads(done.stdout)


limits = [{'id': 'triad', 'case': {'benchmark': 'memory.stream', 'kernel': 'triad', 'threads': 'all'}, 'unit': 'B/s', 'at_least': 1e9},
          {'id': 'chase', 'case': {'benchmark': 'memory.latency'}, 'unit': 's', 'at_most': 1e-15}]
test, passed, verdict = judged(limits)
assert test.executable_opts == ['run', 'acceptance', '--out', 'results', '--quiet'], test.executable_opts
assert test.postrun_cmds == ['assay check results --limits spec --json > verdict.json'], test.postrun_cmds
assert passed is not True and verdict['text'][0] in passed, passed # the latency is a thousand times too high
names = sorted(test.perf_variables)
assert [name.split()[0] for name in names] == ['chase', 'triad'], names
value, unit = test.perf_variables[names[1]]
assert 1e9 < value < 1e13 and unit == 'B/s', (value, unit)
references = test.reference['*']
assert references[names[0]] == (1e-15, None, 0, 's') and references[names[1]] == (1e9, 0, None, 'B/s'), references
for outcome in ('PASS', 'WARN', 'SKIP', 'INCONCLUSIVE', 'ERROR', 'FAIL'):
    test.verdict = lambda: verdict | {'verdict': outcome}
    assert (test.passed() is True) is (outcome in ('PASS', 'WARN')), outcome
assert judged([{'id': 'none', 'case': {'benchmark': 'memory.latency', 'footprint': 1}, 'unit': 's', 'at_most': 1}])[1] is not True # not measured
print('ok:', len(names), 'metrics with their references')
