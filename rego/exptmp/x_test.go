package exp
import (
 "testing";"os";"path/filepath";"time";"fmt"
 "github.com/open-policy-agent/opa/v1/ast"
 "github.com/open-policy-agent/opa/v1/format"
 "github.com/open-policy-agent/opa/v1/metrics"
)
func load(t testing.TB, annot bool) map[string]*ast.Module {
 ms:=map[string]*ast.Module{}
 fs,_:=filepath.Glob("../../rules/*/rule.rego"); l,_:=filepath.Glob("../lib/*.rego"); fs=append(fs,l...)
 for _,f:=range fs { b,_:=os.ReadFile(f)
  m,err:=ast.ParseModuleWithOpts(f,string(b),ast.ParserOptions{ProcessAnnotation:annot,RegoVersion:ast.RegoV1})
  if err!=nil {t.Fatal(err)}
  ms[f]=m }
 return ms
}
func TestFmt(t *testing.T){
 fs,_:=filepath.Glob("../../rules/*/*.rego"); l,_:=filepath.Glob("../lib/*.rego"); fs=append(fs,l...)
 for _,f:=range fs { b,_:=os.ReadFile(f); o,err:=format.SourceWithOpts(f,b,format.Opts{RegoVersion:ast.RegoV1}); if err!=nil{t.Fatal(err)}
 if string(o)!=string(b){ fmt.Println("fmt",f); os.WriteFile(f,o,0o644)} } }
func TestCold(t *testing.T){
 for _,a:=range []bool{true,false,true,false}{
 t0:=time.Now(); ms:=load(t,a); t1:=time.Now()
 m:=metrics.New()
 c:=ast.NewCompiler().WithStrict(true).WithMetrics(m)
 c.Compile(ms); if c.Failed(){t.Fatal(c.Errors)}
 t2:=time.Now()
 fmt.Println(a,"parse",t1.Sub(t0),"compile",t2.Sub(t1))
 if a { for k,v:=range m.All(){ if n,ok:=v.(int64); ok&&n>100000 {fmt.Println("   ",k,n/1000,"us")} else if !ok {fmt.Println(k,v)} } }
 }
}
