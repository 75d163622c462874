# SPDX-License-Identifier: Apache-2.0
# NEVER RUN WITH REFRAME: it could not be had where this was written. tests/recipes runs its functions with a stand-in.
#
# All cases of a suite in one job on each node, in place of a test for each case: 20 tests on 500 nodes are 10,000 jobs, which
# no scheduler takes. Each metric is reported with its reference, which is the limit of the node's verdict.
#
#   reframe -C site.py -c scripts/reframe/assay_check.py -r --distribute=idle -S suite=acceptance -S limits=spec

import json
import os

import reframe as rfm
import reframe.utility.sanity as sn


def read(path):
    with open(path, encoding='utf-8') as file:
        return json.load(file)


def figures(verdict):
    """name: (value, unit, reference) of each check that has a value. A reference is what ReFrame takes: what must be
    reached, and by which share a value may be below or above it; None: by any."""
    found = {}
    for check in verdict['nodes'][0]['checks']:
        if check['value'] is None:
            continue
        name = ' '.join([check['id'], (check['case'] or {}).get('parameters', '')]).strip()
        reference = None
        if check['bound'] is not None:
            reference = (check['bound'], *((0, None) if check['direction'] == 'at_least' else (None, 0)))
        found[name] = (check['value'], check['unit'] or '1', reference)
    return found


@rfm.simple_test
class AssayNode(rfm.RunOnlyRegressionTest):
    suite = variable(str, value='acceptance')
    limits = variable(str, value='spec')
    program = variable(str, value='assay')
    time_limit = '2h'
    valid_systems = ['*']
    valid_prog_environs = ['*']
    num_tasks = 1
    num_tasks_per_node = 1
    exclusive_access = True

    @run_before('run')
    def command(self):
        self.executable = self.program
        self.executable_opts = ['run', self.suite, '--out', 'results', '--quiet']
        # The verdict is made whatever the exit code of the run was; what was not measured is INCONCLUSIVE there.
        self.postrun_cmds = [f'{self.program} check results --limits {self.limits} --json > verdict.json']

    def verdict(self):
        return read(os.path.join(self.stagedir, 'verdict.json'))

    @sanity_function
    def passed(self):
        verdict = self.verdict()
        return sn.assert_in(verdict['verdict'], ['PASS', 'WARN'], '; '.join(verdict['text']))

    @run_before('performance')
    def metrics(self):
        found = figures(self.verdict())
        self.perf_variables = {name: sn.make_performance_function(sn.defer(value), unit) for name, (value, unit, _) in found.items()}
        self.reference = {'*': {name: (*reference, unit) for name, (_, unit, reference) in found.items() if reference}}
