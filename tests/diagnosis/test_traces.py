"""Promise: a stack trace is one event, in each language, however many exceptions it chains."""

from bcon_exporter.diagnosis.log_events import read_events
from bcon_exporter.model.findings import SymptomType
from tests.diagnosis.judging import shipped
from tests.factories import logs
from tests.table_rows import table

TRACES = {
    "python, chained": """\
Traceback (most recent call last):
  File "/srv/app/db.py", line 12, in connect
    raise OSError("no route")
OSError: no route

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "/srv/app/main.py", line 3, in <module>
    connect()
RuntimeError: cannot start""",
    "python after a logged line": """\
2026-03-01 10:00:00,000 ERROR shop.orders: order 42 failed
Traceback (most recent call last):
  File "/srv/app/main.py", line 3, in store
    boom()
ValueError: boom""",
    "java": """\
2026-03-01 10:00:00.000 ERROR 1 --- [main] c.e.Shop : start failed
java.lang.IllegalStateException: no pool
\tat com.example.Shop.start(Shop.java:12) ~[app.jar:na]
\t... 12 common frames omitted
Caused by: java.lang.RuntimeException: no driver
\tat com.example.Db.open(Db.java:3)
\t... 3 more""",
    "go": """\
panic: runtime error: index out of range [3] with length 3

goroutine 1 [running]:
main.store(0x3)
\t/srv/app/main.go:12 +0x1d
main.main()
\t/srv/app/main.go:5 +0x12
exit status 2""",
    "node": """\
TypeError: Cannot read properties of undefined (reading 'name')
    at Object.<anonymous> (/srv/app/index.js:12:20)
    at Module._compile (node:internal/modules/cjs/loader:1256:14) {
  code: 'E_SHOP',
}""",
    "ruby": """\
/srv/app/shop.rb:3:in `store': undefined method `foo' for nil:NilClass (NoMethodError)
\tfrom /srv/app/shop.rb:9:in `run'
\tfrom /srv/app/shop.rb:12:in `<main>'""",
    "php": """\
PHP Fatal error:  Uncaught Error: Call to undefined function foo() in /srv/app/index.php:3
Stack trace:
#0 /srv/app/index.php(9): store()
#1 {main}
  thrown in /srv/app/index.php on line 3""",
    "dotnet": """\
Unhandled exception. System.InvalidOperationException: no elements
 ---> System.ArgumentException: empty
   at System.Linq.ThrowHelper.ThrowNoElementsException()
   --- End of inner exception stack trace ---
   at Program.<Main>$(String[] args) in /src/Program.cs:line 5""",
    "rust": """\
thread 'main' panicked at src/main.rs:4:5: index out of bounds
stack backtrace:
   0: rust_begin_unwind
             at /rustc/library/std/src/panicking.rs:645:5
   1: shop::main
note: run with `RUST_BACKTRACE=full` for a verbose backtrace.""",
}


@table("trace", TRACES.values(), ids=TRACES)
def test_a_trace_is_one_failure(trace: str) -> None:
    lines = logs("INFO before", *trace.split("\n"), "INFO after").lines
    (event,) = read_events(lines, shipped())

    assert event.shows(SymptomType.LOG_ERROR)
    assert (event.index, event.line_count) == (1, len(trace.split("\n")))


@table("trace", TRACES.values(), ids=TRACES)
def test_two_traces_are_two_failures(trace: str) -> None:
    lines = logs(*trace.split("\n"), "INFO between", *trace.split("\n")).lines

    assert len(read_events(lines, shipped())) == 2


def test_a_trace_without_its_beginning_is_a_failure() -> None:
    lines = logs('  File "/srv/app/main.py", line 3, in store', "    boom()", "ShopError: boom").lines

    assert [event.failed for event in read_events(lines, shipped())] == [True]


def test_an_object_printed_over_several_lines_has_the_level_that_it_carries() -> None:
    broken = ("{", '  "level": "error",', '  "msg": "could not store order 42"', "}")
    fine = ("{", '  "level": "info",', '  "msg": "error budget is at 100 %"', "}")

    assert [event.failed for event in read_events(logs(*broken, *fine).lines, shipped())] == [True]
