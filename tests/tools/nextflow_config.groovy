// Reads a configuration with Nextflow's own parser and prints its options, one a line: its path, and
// its value; or "error: ..." where the text is none, or "unknown: PATH" where Nextflow has no such
// option, or "type: PATH" where it takes no value of that kind.
import nextflow.config.ast.ConfigAssignNode
import nextflow.config.ast.ConfigBlockNode
import nextflow.config.control.ConfigParser
import nextflow.config.schema.SchemaNode
import org.codehaus.groovy.ast.expr.ConstantExpression
import org.codehaus.groovy.ast.expr.MapExpression

def show(List path, ConfigAssignNode node) {
    def names = path + node.names
    def option = SchemaNode.ROOT.getOption(names)
    def name = names.join('.')
    if (option == null)
        return println("unknown: ${name}")
    def is_map = node.value instanceof MapExpression
    if ((option.type() == Map) != is_map || (option.type() == Integer &&
            !(node.value instanceof ConstantExpression && node.value.value instanceof Integer)))
        return println("type: ${name}")
    println("${name} ${node.value.text}")
}

def walk(List path, statements) {
    statements.each {
        if (it instanceof ConfigBlockNode)
            walk(path + it.name, it.statements)
        else if (it instanceof ConfigAssignNode)
            show(path, it)
        else
            println("error: ${it}")
    }
}

def source = new ConfigParser().parse(new File(args[0]))
def errors = source.errorCollector.errors
if (errors)
    println("error: ${errors[0].cause.message}")
else
    walk([], source.AST.configStatements)
